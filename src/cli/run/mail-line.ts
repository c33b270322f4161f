import type { ChildResult } from '../../records/agent/state.ts';
import { shortly } from '../../records/conversation/child-text.ts';
import { completionLine, readCompletion } from '../../records/conversation/completion.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { clean } from '../../render/clean.ts';

/** A line for people about mail that tells of an end: a completion message (seed 2), an announcement (seed 4); null for any other. */
export function mailLine(mail: Mail, nameOf: (agent_id: string) => string): string | null {
  const who = `${clean(mail.from_name)} → ${clean(nameOf(mail.to_id))}`;
  if (mail.kind === 'announce') {
    const { outcome } = JSON.parse(mail.body) as ChildResult;
    const end =
      outcome.type === 'success'
        ? `✓ announced: ${clean(shortly(outcome.result, outcome.limit))}`
        : `✗ announced: ${clean(outcome.error)} (${outcome.error_kind})`;
    return `${who}  ${end}`;
  }
  if (mail.kind !== 'letter') return null;
  const reading = readCompletion(mail.body);
  return reading.type === 'completion' ? `${who}  ${clean(completionLine(reading.completion))}` : null;
}
