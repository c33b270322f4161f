import type { HostExit, HostTerminal } from '../../models/model-host.ts';
import { NewestOutput } from '../../processes/newest-output.ts';
import { type ProcessEnd, type ProcessRequest, runProcess } from '../../processes/run-process.ts';
import { limits } from '../../processes/tool-limits.ts';

/** Runs a command of a model's program in a process group of its own; nothing of it outlives `kill` or its own end. */
export function startHostTerminal(
  request: Pick<ProcessRequest, 'file' | 'args' | 'place' | 'env'>,
  output_bytes: number,
): HostTerminal {
  const controller = new AbortController();
  const output = new NewestOutput(output_bytes);
  let exit: HostExit | null = null;
  const exited = runProcess({
    ...request,
    signal: controller.signal,
    timeout_ms: limits.timeout_max_seconds * 1000,
    onOutput: (chunk) => output.push(chunk),
  }).then((end) => {
    if (end.end === 'not_started') output.push(Buffer.from(`[could not be started: ${end.error.message}]\n`));
    if (end.end === 'timed_out')
      output.push(Buffer.from(`\n[stopped after ${limits.timeout_max_seconds} s]\n`));
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

/** A command that was not found ends with 127, as in a shell; one that was stopped, with the signal that stopped it. */
function exitOf(end: ProcessEnd): HostExit {
  if (end.end === 'exited') return { code: end.code, signal: end.signal };
  return end.end === 'not_started' ? { code: 127, signal: null } : { code: null, signal: 'SIGTERM' };
}
