/**
 * A program that executes one command line after another as a separate process would: with its own arguments, folder, environment and input, on the real
 * standard streams. A command has ended when nothing of it keeps the process alive; then `end` is written to both streams.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Question {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
  /** Marker that never occurs in output. */
  readonly end: string;
}

const LOOK_MS = 2;
const [node = '', , main = '', module = ''] = process.argv;
for (const one of [process, process.stdout, process.stderr]) one.setMaxListeners(0);
let idle: readonly string[] = [];
// Resources that this program itself keeps open exist by the time of the first question.
process.once('message', () => {
  idle = process.getActiveResourcesInfo();
});
process.on('message', (question: Question) => void answer(question));
process.on('disconnect', () => process.exit());

async function answer({ args, cwd, env, input, end }: Question): Promise<void> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([input]) });
  process.argv = [node, main, ...args];
  process.exitCode = 0;
  const { start } = (await import(module)) as typeof import('../../src/cli/start/start.ts');
  await start();
  while (process.getActiveResourcesInfo().length > idle.length) await sleep(LOOK_MS, null, { ref: false });
  const code = process.exitCode;
  process.exitCode = 0;
  process.stdout.write(end);
  process.stderr.write(end);
  process.send?.(code);
}
