import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ScriptedRules } from '../src/models/scripted/scripted-rules.ts';

/** `coppice serve` in a process and folders of its own, as people run it. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** The write token. */
  readonly token: string;
  /** Stops the server and removes its folders. */
  stop(): void;
}

export interface ServerFolder {
  readonly folder: string;
  readonly database: string;
  start(): Promise<ServerProcess>;
}

const CLI = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts');

/** Makes folders for a server whose model answers by these rules; its ledger may be filled before it starts. */
export function makeServerFolder(rules: ScriptedRules): ServerFolder {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-server-'));
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const file = join(folder, 'rules.json');
  writeFileSync(file, JSON.stringify(rules));
  return {
    folder,
    database,
    async start() {
      const env = {
        ...process.env,
        XDG_DATA_HOME: join(folder, 'data'),
        XDG_CONFIG_HOME: join(folder, 'config'),
      };
      const args = ['serve', '--listen', '0', '--log', 'text', '--model', `scripted:${file}`];
      const child = spawn(process.execPath, [CLI, ...args, '--database', database], {
        cwd: folder,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      for await (const line of createInterface({ input: child.stderr })) {
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (url === undefined) continue;
        child.stderr.resume();
        return {
          url,
          pid: child.pid as number,
          token: readFileSync(join(folder, 'data', 'coppice', 'server', 'token'), 'utf8').trim(),
          stop: () => {
            child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
            child.kill('SIGTERM');
          },
        };
      }
      throw new Error('the server ended before it listened');
    },
  };
}
