import { withoutFrames } from '../src/records/conversation/facts/message-facts.ts';
import { withOldFacts } from '../src/records/conversation/facts/old-facts.ts';
import type { UserContent, UserOrigin } from '../src/records/conversation/message.ts';

/** A text without its frames, for people. */
export function unframed(text: string, named = false, origin: UserOrigin = 'mail'): string {
  const said: UserContent = { origin, text };
  const { facts } = withOldFacts({ kind: 'user', content: said }).content;
  return withoutFrames(text, facts?.frames, named);
}
