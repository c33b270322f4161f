import { counted } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import type { UiStyle } from '../../render/style.ts';
import type { Choice } from '../state/answer.ts';
import type { Confirmation } from '../state/confirmation.ts';
import type { UiState } from '../state/ui-state.ts';
import { line } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';

const NAMES_MAX = 3;

/** `Kill file-reader and 1 descendant (grep-all)? …`, and the question before quitting. Enter has no default. */
export function confirmationLines(
  state: UiState,
  overlay: Confirmation,
  width: number,
  height: number,
  style: UiStyle,
): string[] {
  const whole = wholeText(state, overlay);
  const rows = wrap(whole, width, style);
  // No room for all of it: the keys come first.
  const shown = rows.length <= height ? rows : wrap(shortText(state, overlay), width, style).slice(0, height);
  return shown.map((row) => line(style, width, [['yellow', row]]));
}

function wholeText(state: UiState, overlay: Confirmation): string {
  if (overlay.type === 'kill') return killText(state, overlay);
  if (overlay.type === 'consent') {
    const { question, yes, no } = overlay;
    const keys = `[y] ${yes}  ${no === undefined ? '[n/Esc] no' : `[n] ${no.text}  [Esc] neither`}`;
    return `${question}  ${keysOf(state, keys, no?.text)}`;
  }
  return overlay.type === 'quit' ? quitText(state, overlay.working()) : restoreText(state, overlay);
}

function restoreText(state: UiState, { files, redo }: Extract<Confirmation, { type: 'restore' }>): string {
  const what = counted(files.length, 'file');
  const keys = keysOf(state, '[y] yes  [n/Esc] no');
  return `${redo ? `Put the changes of ${what} back` : `Take back the changes of ${what}`}, as shown above?  ${keys}`;
}

const DECIDING: Readonly<Record<Choice, string>> = {
  kill: 'kill',
  detach: 'detach',
  restore: 'the files change',
  start: 'it is done',
  stay: 'nothing ends',
};

/** The keys; or, once a letter was pressed, what it does if no other key follows. */
function keysOf({ deciding }: UiState, keys: string, no = DECIDING.stay): string {
  if (deciding === null) return keys;
  const does = deciding.decision === 'stay' ? no : DECIDING[deciding.decision];
  return `[${clean(deciding.text)}] ${does} in a moment, Enter: now; any other key makes it text`;
}

function shortText(state: UiState, overlay: Confirmation): string {
  if (state.deciding !== null) return keysOf(state, '');
  if (overlay.type === 'restore') return `[y]/[n] ${overlay.redo ? 'redo' : 'undo'} ${overlay.files.length}`;
  if (overlay.type === 'consent') return `[y]/[n] ${overlay.yes}`;
  if (overlay.type === 'quit') return `${quitKeys(overlay.working())}: ${overlay.working()} running`;
  const { agent_ids, descendants } = overlay;
  return `[y]/[n] kill ${agent_ids.length + descendants.length}: ${namesOf(state, agent_ids, NAMES_MAX)}`;
}

function killText(
  state: UiState,
  { agent_ids, descendants, only_idle }: Extract<Confirmation, { readonly type: 'kill' }>,
): string {
  const count = descendants.length;
  const with_them =
    count === 0 ? '' : ` and ${counted(count, 'descendant')} (${namesOf(state, descendants, NAMES_MAX)})`;
  const all = agent_ids.length + count;
  const stay = all === 1 ? 'It stays' : all === 2 ? 'Both stay' : `All ${all} stay`;
  const keys = keysOf(state, '[y] kill  [n/Esc] keep');
  const whom = only_idle
    ? `${counted(agent_ids.length, 'idle agent')} (${namesOf(state, agent_ids, NAMES_MAX)})`
    : namesOf(state, agent_ids, agent_ids.length);
  return `Kill ${whom}${with_them}? ${stay} visitable until /reap.  ${keys}`;
}

function namesOf(state: UiState, ids: readonly string[], most: number): string {
  const names = ids.slice(0, most).map((id) => clean(state.agents.get(id)?.name ?? id.slice(0, 8)));
  return `${names.join(', ')}${ids.length > most ? `, +${ids.length - most} more` : ''}`;
}

function quitText(state: UiState, working: number): string {
  const agents = working === 0 ? 'no agent' : counted(working, 'agent');
  return `quit? ${agents} running: ${keysOf(state, quitKeys(working))}`;
}

/** The last agent may end while the question is shown: then there is nothing to detach or to kill. */
function quitKeys(working: number): string {
  return working === 0 ? '[d] quit  [n]o' : '[d]etach [k]ill all [n]o';
}
