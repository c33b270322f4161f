import { hash } from 'node:crypto';
import type { NewAsk } from '../../records/conversation/ask.ts';
import { storable } from '../../records/text/text.ts';

type ShownAsk = Omit<NewAsk, 'call_id' | 'root_id' | 'asked_at'>;

/** Where the random part of an id begins, which salts the digest: nobody who writes a question can choose its digest. */
const RANDOM_FROM = 15;

/** Digest of what a person is shown of a question, as 64 hex digits: who asks, for which tool, with which arguments, change and form, where, and why. */
export function shownDigest(ask: ShownAsk): string {
  const { id, agent_id, agent_name, tool, subject, subject_kind, input, difference, cwd, rule } = ask;
  const shown = [agent_id, agent_name, tool, subject, subject_kind, input, difference, cwd, rule];
  const texts = [id.slice(RANDOM_FROM), ...shown].map((text) => (text === null ? null : storable(text)));
  return hash('sha256', JSON.stringify(texts));
}

/** The id that begins with the digest (a uuid of version 8): who writes it, or its beginning, names what was shown (decision 33). `ask.id`: a random uuid. */
export function shownId(ask: ShownAsk): string {
  const digest = shownDigest(ask);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${ask.id.slice(RANDOM_FROM)}`;
}

/** Whether a question is what `shown` stands for: its digest, its id, or the beginning of that. Ids of older versions (uuids of version 4) are random. */
export function isAsShown(ask: ShownAsk, shown: string): boolean {
  const names_it = ask.id[14] !== '8' || ask.id === shownId(ask);
  return shown === shownDigest(ask) || (names_it && ask.id.startsWith(shown));
}
