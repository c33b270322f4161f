import { isTerminal } from '../../src/records/agent/state.ts';
import type { Mail } from '../../src/records/conversation/mail.ts';
import type { Finding } from './finding.ts';
import type { RunLedger } from './run-ledger.ts';

export interface LetterJudgement {
  readonly findings: readonly Finding[];
  /** Letters between agents that stand once in the conversation of whom they were written to. */
  readonly delivered: number;
}

/** Each letter between agents says what no other says: its text stands in the conversation of its reader, and once. */
export function judgeLetters({ mail, agents, messages }: RunLedger): LetterJudgement {
  const letters = [...mail.values()].filter(({ kind, from_id }) => kind === 'letter' && from_id !== null);
  const findings: Finding[] = [];
  const bodies = new Map<string, Mail>();
  let delivered = 0;
  for (const letter of letters) {
    const { id, to_id, body } = letter;
    const twin = bodies.get(`${to_id} ${body}`);
    if (twin !== undefined)
      findings.push({ law: 'doubled', text: `the letters ${twin.id} and ${id} to ${to_id} are the same` });
    bodies.set(`${to_id} ${body}`, letter);
    const heard = (messages.get(to_id) ?? []).filter(({ kind }) => kind === 'user' || kind === 'result');
    const times = heard.reduce((sum, { content }) => sum + timesIn(JSON.stringify(content), body), 0);
    if (times === 1) delivered += 1;
    else if (times > 1)
      findings.push({ law: 'doubled', text: `the letter ${id} was told ${times} times to ${to_id}` });
    else if (!isTerminal(agents.get(to_id)?.state.type ?? 'idle'))
      findings.push({ law: 'lost', text: `the letter ${id} was never told to ${to_id}` });
  }
  return { findings, delivered };
}

function timesIn(text: string, part: string): number {
  return text.split(part).length - 1;
}
