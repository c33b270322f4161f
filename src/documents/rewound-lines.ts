import { counted } from '../records/text/text.ts';
import { clean } from '../render/clean.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

const AGENTS_MAX = 40;

/** What a tree that is taken back has, and what it has not, as lines for people. */
export function rewoundLines({
  agents,
  born_later,
  edited,
  letters,
  not_undone,
}: DocumentOf<'coppice/rewind/v1'>): string[] {
  const lines = agents.slice(0, AGENTS_MAX).map(({ name, state, messages, later, interrupted }) => {
    const calls = interrupted.length === 0 ? '' : `; interrupted: ${interrupted.map(clean).join(', ')}`;
    const gone = later === 0 ? '' : `, without the ${later} after them`;
    return `${clean(name)}: ${state}, ${counted(messages, 'message')}${gone}${calls}`;
  });
  if (agents.length > AGENTS_MAX) lines.push(`… ${agents.length - AGENTS_MAX} more agents`);
  if (born_later.length > 0)
    lines.push(
      `not in it, because they were created later: ${born_later.slice(0, AGENTS_MAX).map(clean).join(', ')}`,
    );
  if (edited !== null) lines.push(`message ${edited.seq} of ${clean(edited.name)} is another one`);
  if (letters > 0) lines.push(`${counted(letters, 'letter is', 'letters are')} on the way again`);
  return [...lines, ...not_undone.map((text) => `not undone: ${clean(text)}`)];
}
