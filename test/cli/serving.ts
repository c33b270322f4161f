import { until } from '../until.ts';
import type { Home } from './run-cli.ts';

/** Starts `coppice serve` of this home on a free port. Resolves, once it listens, to its address and to what stops it. */
export async function serving(
  home: Home,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const { child, ended } = home.start(['serve', '--listen', '0', ...flags], { env });
  let log = '';
  child.stderr?.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  await until(() => /listening on (\S+);/.test(log), 'a server').catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: /listening on (\S+);/.exec(log)?.[1] ?? '', stop };
}
