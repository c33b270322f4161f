import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILED } from '../house/compiled.ts';
import { MAIN } from '../house/program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { askResident, type CliResult } from './residents.ts';

/** An isolated environment for the command line: folders, ledger and configuration that no other test or user shares. */
export interface Home {
  readonly folder: string;
  /** The folder in which commands run. */
  readonly work: string;
  readonly database: string;
  readonly env: NodeJS.ProcessEnv;
  configure(configuration: object | string): void;
  /** Runs a command line in a separate process that can be watched, signalled or killed. */
  start(
    args: readonly string[],
    options?: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
  ): { readonly child: ChildProcess; readonly ended: Promise<CliResult> };
  /** Runs a command line in a resident program (residents.ts). */
  run(
    args: readonly string[],
    options?: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
  ): Promise<CliResult>;
}

export function makeHome(): Home {
  const folder = temporaryFolder();
  const work = join(folder, 'work');
  mkdirSync(work);
  mkdirSync(join(folder, 'config', 'coppice'), { recursive: true });
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    // Times that commands show are in the zone of the tests that read them.
    ...(process.env.TZ === undefined ? {} : { TZ: process.env.TZ }),
    ...COMPILED,
    HOME: folder,
    LANG: 'C.UTF-8',
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    COPPICE_SANDBOX: 'off',
  };
  const home: Home = {
    folder,
    work,
    database: join(folder, 'data', 'coppice', 'coppice.db'),
    env,
    configure(configuration) {
      const text = typeof configuration === 'string' ? configuration : JSON.stringify(configuration);
      writeFileSync(join(folder, 'config', 'coppice', 'config.json'), text);
    },
    start(args, options = {}) {
      const child = spawn(process.execPath, [MAIN, ...args], {
        cwd: work,
        env: { ...env, ...options.env },
        stdio: 'pipe',
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.input ?? '');
      const ended = new Promise<CliResult>((resolve) =>
        child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
      );
      return { child, ended };
    },
    run: (args, options = {}) =>
      askResident({ args, cwd: work, env: { ...env, ...options.env }, input: options.input ?? '' }),
  };
  return home;
}
