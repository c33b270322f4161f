import { visibleLine } from '../records/agent/agent-name.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import { clean } from './clean.ts';
import { fit, type Style } from './style.ts';

const TITLE_MAX = 60;
/** A title is stored as text: no colours, always the Unicode ellipsis. */
const PLAIN: Style = { colour: false, unicode: true };

/** The title of a tree: the beginning of its task, one line; null if there is no task yet. `first`: the root's first messages. */
export function treeTitle(first: readonly PlacedMessage[]): string | null {
  for (const message of first) {
    if (message.kind !== 'user') continue;
    const title = titleLine(message.content.text);
    if (title !== '') return title;
  }
  return null;
}

/** The first line with a letter or a digit. */
function titleLine(text: string): string {
  for (const line of text.slice(0, 4_000).split('\n')) {
    const said = visibleLine(clean(line));
    if (/[\p{L}\p{N}]/u.test(said)) return fit(said, TITLE_MAX, PLAIN);
  }
  return '';
}
