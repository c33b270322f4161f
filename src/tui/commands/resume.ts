import { homedir } from 'node:os';
import { nameOf, shownWord } from '../../records/run/outcome.ts';
import { counted } from '../../records/text/text.ts';
import { duration } from '../../render/amounts.ts';
import { statePaint, stateSign } from '../../render/state-mark.ts';
import { sign } from '../../render/style.ts';
import { treesDocument } from '../../trees/answers/tree-answers.ts';
import type { AppContext } from '../app-context.ts';
import type { TreeRow } from '../app-options.ts';
import { type Picker, type PickerRow, pickerRows, selectedRow } from '../state/picker.ts';
import { transcript } from '../state/transcript.ts';

const TREES_MAX = 200;
/** Number of newest messages of a conversation that its preview shows. */
const PREVIEWED = 30;

/** `/resume`: opens the conversation of the agent whose id begins with `text`; otherwise lists those that match its words, of this folder or else of all. */
export async function resumeTree(app: AppContext, text: string): Promise<void> {
  const found = /^[0-9a-f-]{4,}$/i.test(text) ? await app.store.find(text) : [];
  const [agent, ...more] = found.filter(({ id }) => id.startsWith(text.toLowerCase()));
  if (agent !== undefined && more.length === 0) return app.openTree(agent.id);
  const here = { ...(await treePicker(app, app.options.cwd)), filter: text };
  const picker = pickerRows(here).length > 0 ? here : { ...(await treePicker(app, null)), filter: text };
  if (picker.rows.length === 0) return app.say('there is no other conversation yet');
  if (pickerRows(picker).length === 0) return app.say(`no conversation has "${text}" in its title`, 'bad');
  openPicker(app, picker);
}

/** Shows a list; the newest messages of the conversation that is selected in it are read if they are not there yet. */
export function openPicker(app: AppContext, picker: Picker): void {
  app.dispatch({ type: 'overlay', overlay: picker });
  const id = selectedRow(picker)?.id;
  if (id === undefined || picker.previews === undefined || picker.previews.has(id)) return;
  app.attempt(async () => {
    const last = (await app.store.agent(id))?.last_seq ?? 0;
    const entries = transcript(await app.store.history(id, Math.max(0, last - PREVIEWED), PREVIEWED), id);
    const { overlay } = app.state;
    // The list was closed or replaced meanwhile.
    if (overlay?.type !== 'picker' || overlay.previews === undefined) return;
    app.dispatch({
      type: 'overlay',
      overlay: { ...overlay, previews: new Map(overlay.previews).set(id, entries) },
    });
  });
}

/** Switches the list between this folder and all folders. */
export async function otherFolders(app: AppContext, picker: Picker): Promise<void> {
  const other = await treePicker(app, picker.other === ALL ? null : app.options.cwd);
  // The list was closed or replaced meanwhile.
  if (app.state.overlay?.type !== 'picker') return;
  const { filter, selected } = app.state.overlay;
  openPicker(app, { ...other, filter, selected });
}

const ALL = 'all folders';

/** Lists the conversations of a folder, or of all (null), without the one in view: those of this folder first, each by latest activity. */
async function treePicker(app: AppContext, cwd: string | null): Promise<Picker> {
  const query = { conversations: true, limit: TREES_MAX, ...(cwd === null ? {} : { cwd }) };
  const { trees } = await treesDocument(app, query);
  const others = trees.filter(({ root_id }) => root_id !== app.state.root_id);
  const rows = others
    .toSorted(
      (a, b) =>
        Number(b.cwd === app.options.cwd) - Number(a.cwd === app.options.cwd) ||
        (a.updated_at < b.updated_at ? 1 : -1),
    )
    .map((tree) => rowOf(tree, cwd === null, app));
  return {
    type: 'picker',
    choose: ({ id }) => app.openTree(id),
    heading: cwd === null ? 'Conversations' : `Conversations in ${shortFolder(cwd)}`,
    rows,
    filter: '',
    selected: null,
    empty: 'none in this folder',
    verb: 'open',
    command: '/resume ID',
    previews: new Map(),
    other: cwd === null ? 'this folder' : ALL,
  };
}

function rowOf(tree: TreeRow, with_folder: boolean, { style }: AppContext): PickerRow {
  const { approvals, agents, cost_usd, updated_at, outcome, outcome_text } = tree;
  const word = shownWord(tree.status, outcome, outcome_text);
  const state =
    approvals > 0
      ? (['yellow', `${sign(style, '!')} asks ${approvals}`] as const)
      : ([statePaint(word), `${stateSign(word, style)} ${nameOf(word)}`] as const);
  return {
    id: tree.root_id,
    text: tree.title,
    outcome: [state[0], outcome_text],
    figures: [
      ...(with_folder ? [['dim', shortFolder(tree.cwd)] as const] : []),
      state,
      [null, counted(agents, 'agent')],
      [null, cost_usd === 0 ? '' : `$${cost_usd.toFixed(2)}`],
      ['dim', duration(Date.now() - Date.parse(updated_at))],
    ],
  };
}

/** Abbreviates the home folder as `~`. */
function shortFolder(folder: string): string {
  const home = homedir();
  return folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}
