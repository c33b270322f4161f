import { spawn } from 'node:child_process';
import { findShell } from '../../processes/find-shell.ts';
import { forgetProcessGroup, registerProcessGroup, signalGroup } from '../../processes/process-group.ts';
import { clean } from '../../render/clean.ts';

const TIMEOUT_MS = 2_000;
const OUTPUT_MAX = 16_384;

/**
 * Runs a command of the user's own with a JSON document on its standard input; resolves to the first line of its output, cleaned for a terminal.
 * Null if it fails or takes longer than two seconds. Its process group is killed when it ends, and with the UI. Never rejects.
 */
export function runUserScript(
  command: string,
  document: object,
  cwd: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  if (signal.aborted) return Promise.resolve(null);
  // Passes all variables of the user's shell; keys that `coppice setup` has stored are not among them.
  const child = spawn(findShell(), ['-c', command], {
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const { pid } = child;
  if (pid !== undefined) registerProcessGroup(pid);
  let output = '';
  const end = (line: string | null): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (pid !== undefined) {
      signalGroup(pid, 'SIGKILL');
      forgetProcessGroup(pid);
    }
    resolve(line);
  };
  const stop = (): void => end(null);
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal.addEventListener('abort', stop, { once: true });
  child.on('error', stop);
  child.on('close', (code) => end(code === 0 ? clean(output.split('\n', 1)[0] ?? '') : null));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < OUTPUT_MAX) output += text;
  });
  // The command may not read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(document)}\n`);
  return promise;
}
