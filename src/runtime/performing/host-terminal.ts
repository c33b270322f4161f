import type { HostExit, HostTerminal } from '../../models/model-host.ts';
import { TIMEOUT_MAX_SECONDS } from '../../processes/limits/command-budget.ts';
import { NewestOutput } from '../../processes/output/newest-output.ts';
import { type ProcessEnd, type ProcessRequest, runProcess } from '../../processes/starting/run-process.ts';

/** Runs a command for an agent program, in a process group of its own that ends with the command or with `kill`. */
export function startHostTerminal(
  request: Pick<ProcessRequest, 'file' | 'args' | 'place' | 'env' | 'tree' | 'budget' | 'confine'> & {
    readonly notes: readonly string[];
  },
  output_bytes: number,
): HostTerminal {
  const controller = new AbortController();
  const output = new NewestOutput(output_bytes);
  let exit: HostExit | null = null;
  const exited = runProcess({
    ...request,
    signal: controller.signal,
    timeout_ms: TIMEOUT_MAX_SECONDS * 1000,
    onOutput: (chunk) => output.push(chunk),
    // The command itself writes only to standard output (`exec 2>&1`): standard error is what its sandbox reports.
    onErrorOutput: (chunk) => output.push(chunk),
  }).then((end) => {
    if (end.end === 'not_started') output.push(Buffer.from(`[could not be started: ${end.error.message}]\n`));
    if (end.end === 'timed_out') output.push(Buffer.from(`\n[stopped after ${TIMEOUT_MAX_SECONDS} s]\n`));
    if (end.end === 'over_limit') output.push(Buffer.from(`\n[${end.why}]\n`));
    for (const note of request.notes) output.push(Buffer.from(`\n[${note}]\n`));
    exit = exitOf(end);
    return exit;
  });
  return {
    output: () => ({ text: output.text(), truncated: output.truncated, exit }),
    exited,
    kill: async () => {
      controller.abort();
      await exited;
    },
  };
}

/** Exit as in a shell: code 127 if the command could not be started, a signal if it was stopped. */
function exitOf(end: ProcessEnd): HostExit {
  if (end.end === 'exited') return { code: end.code, signal: end.signal };
  return end.end === 'not_started' ? { code: 127, signal: null } : { code: null, signal: 'SIGTERM' };
}
