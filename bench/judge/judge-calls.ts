import { existsSync, readFileSync } from 'node:fs';
import type { EndedLedger } from './ended-ledger.ts';
import type { Finding } from './finding.ts';

export interface CallJudgement {
  readonly findings: readonly Finding[];
  /** Calls that ran exactly once and are recorded so. */
  readonly once: number;
  /** Calls reported as interrupted that had run, and that had not. */
  readonly interrupted_after: number;
  readonly interrupted_before: number;
}

/**
 * Checks that every counting call ran once, or is reported as interrupted and ran once at most, and that nothing ran that is not in a
 * conversation. `counts`: the file to which the tools append `AGENT CALL`; `tools`: their names.
 */
export function judgeCalls(
  counts: string,
  tools: ReadonlySet<string>,
  { messages }: Pick<EndedLedger, 'messages'>,
): CallJudgement {
  const ran = readCounts(counts);
  const findings: Finding[] = [];
  const known = new Set<string>();
  let [once, interrupted_after, interrupted_before] = [0, 0, 0];
  for (const message of [...messages.values()].flat()) {
    if (message.kind === 'assistant')
      for (const part of message.content.parts)
        if (part.type === 'call' && tools.has(part.name)) {
          const key = `${message.agent_id} ${part.id}`;
          if (known.has(key)) findings.push({ law: 'doubled', text: `the call ${key} was made twice` });
          known.add(key);
        }
    if (message.kind !== 'result' || !tools.has(message.content.name)) continue;
    const { status, call_id, output } = message.content;
    const key = `${message.agent_id} ${call_id}`;
    const times = ran.get(key) ?? 0;
    if (status === 'interrupted' && times === 0) interrupted_before += 1;
    else if (status === 'interrupted') interrupted_after += 1;
    else if (status !== 'ok')
      findings.push({ law: 'wrong', text: `the call ${key} is ${status}: ${output.slice(0, 200)}` });
    else if (times === 0)
      findings.push({ law: 'lost', text: `the call ${key} is recorded as done and never ran` });
    else once += 1;
  }
  for (const [key, times] of ran) {
    if (times > 1) findings.push({ law: 'doubled', text: `the call ${key} ran ${times} times` });
    if (!known.has(key))
      findings.push({ law: 'wrong', text: `the call ${key} ran and is in no conversation` });
  }
  return { findings, once, interrupted_after, interrupted_before };
}

/** Number of times that each `AGENT CALL` ran. */
function readCounts(file: string): Map<string, number> {
  const ran = new Map<string, number>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
    ran.set(line, (ran.get(line) ?? 0) + 1);
  return ran;
}
