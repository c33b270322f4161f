import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { COMPILED } from '../house/compiled.ts';
import { MAIN, START } from '../house/program.ts';
import type { Question } from './resident-cli.ts';

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAM = join(import.meta.dirname, 'resident-cli.ts');
/** Resident programs that wait for a command line. They end with this process. */
const free: ChildProcess[] = [];

/** Runs a command line in a resident program, which is reused: starting one costs more than most commands. */
export async function askResident(question: Omit<Question, 'end'>): Promise<CliResult> {
  const child = free.pop() ?? newResident();
  setBusy(child, true);
  const end = `\n${randomUUID()}\n`;
  const answer = new Promise<CliResult>((resolve) => {
    const texts = { stdout: '', stderr: '' };
    let code: number | null = null;
    const settle = (signal: NodeJS.Signals | null): void => {
      for (const name of ['stdout', 'stderr'] as const) child[name]?.removeAllListeners('data');
      child.removeAllListeners();
      resolve({
        code,
        signal,
        stdout: texts.stdout.replace(end, ''),
        stderr: texts.stderr.replace(end, ''),
      });
    };
    const look = (): void => {
      if (code === null || !texts.stdout.endsWith(end) || !texts.stderr.endsWith(end)) return;
      settle(null);
      setBusy(child, false);
      free.push(child);
    };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
        look();
      });
    child.on('message', (told: number) => {
      code = told;
      look();
    });
    // A command that exits its process ends the resident program too.
    child.on('close', (status, signal) => {
      code = status;
      settle(signal);
    });
  });
  child.send({ ...question, end });
  return answer;
}

function newResident(): ChildProcess {
  return fork(PROGRAM, [MAIN, START], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH, ...COMPILED },
    execArgv: [],
  });
}

/** An idle resident program does not keep a test file alive. */
function setBusy(child: ChildProcess, busy: boolean): void {
  const parts = [child, child.channel, child.stdout, child.stderr] as readonly (Refable | null)[];
  for (const part of parts) busy ? part?.ref?.() : part?.unref?.();
}

interface Refable {
  ref?(): void;
  unref?(): void;
}
