import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, makeHome } from '../../cli/run-cli.ts';
import { until } from '../../until.ts';
import { openPage, type PageWatch } from './browser.ts';

/** A browser and a `coppice serve` of its own. */
export interface Dashboard extends PageWatch {
  readonly home: Home;
  /** Single-use sign-in link. */
  readonly link: string;
  close(): Promise<void>;
}

/** Starts a server whose model answers by `rules`, and opens an empty page. */
export async function openDashboard(
  rules: readonly object[],
  configuration: object = {},
): Promise<Dashboard> {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  home.configure(configuration);
  const watch = await openPage();
  const server = home.start(['serve', '--listen', '0', '--model', 'scripted:rules.json']);
  const close = async () => {
    await watch.browser.close();
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await exited;
  };
  let link = '';
  try {
    await until(async () => {
      // Without --json the command would start a server itself.
      const { code, stdout } = await home.run(['web', '--json']);
      if (code === 0) link = (JSON.parse(stdout) as { url: string }).url;
      return code === 0;
    }, 'the server listens');
  } catch (error) {
    await close();
    throw error;
  }
  return { ...watch, home, link, close };
}
