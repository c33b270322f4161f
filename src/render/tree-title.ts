import { visibleLine } from '../records/agent/agent-name.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import { clean } from './clean.ts';
import { fit, type Style } from './style.ts';

const TITLE_MAX = 60;
/** Words, not paint: cut with the sign that every terminal has. */
const PLAIN: Style = { colour: false, unicode: true };

/** What a tree is called for people: the beginning of its task, one line. `first`: its root's first messages; null when there is no task yet. */
export function treeTitle(first: readonly PlacedMessage[]): string | null {
  for (const message of first) {
    if (message.kind !== 'user') continue;
    const title = titleLine(message.content.text);
    if (title !== '') return title;
  }
  return null;
}

/** The first line that says something. */
function titleLine(text: string): string {
  for (const line of text.slice(0, 4_000).split('\n')) {
    const said = visibleLine(clean(line));
    if (/[\p{L}\p{N}]/u.test(said)) return fit(said, TITLE_MAX, PLAIN);
  }
  return '';
}
