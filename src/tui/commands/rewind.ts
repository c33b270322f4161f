import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { rewoundLines } from '../../documents/rewound-lines.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { counted, excerpt } from '../../records/text/text.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { saidAt } from '../../trees/rewind/cut-point.ts';
import { type RewindOrder, rewindTree } from '../../trees/rewind/rewind-tree.ts';
import type { AppContext } from '../app-context.ts';
import type { PickerRow } from '../state/picker.ts';
import { openPicker } from './resume.ts';

/** Newest messages of a conversation that are listed. */
const LISTED = 1_000;

/** `/rewind`: the messages of the agent in view, to go back to one of them; `/rewind NUMBER` goes back to before that one. */
export async function askRewind(app: AppContext, text: string, view: string): Promise<void> {
  const agent = await app.store.agent(view);
  if (agent === null) return;
  // What a fork inherited is of its parent; what was before a cut counts as its own.
  const first = agent.was === undefined ? (agent.forked_from?.seq ?? 0) : 0;
  const messages = await app.store.history(view, Math.max(first, agent.last_seq - LISTED));
  const rows = messages.flatMap((message) => rowOf(message)).reverse();
  const message = (id: string) => messages.find(({ seq }) => String(seq) === id);
  const goes = (id: string, edits: boolean) => {
    const found = message(id);
    return found === undefined ? app.say(`no message ${id}`, 'bad') : goBack(app, agent, found, edits);
  };
  if (/^\d+$/.test(text)) return goes(text, true);
  if (rows.length === 0) return app.say('there is nothing to go back to yet');
  openPicker(app, {
    type: 'picker',
    choose: ({ id }) => goes(id, true),
    tab: { verb: 'fork from here', choose: ({ id }) => goes(id, false) },
    heading: 'Go back to',
    rows,
    filter: text,
    selected: rows.find(({ figures }) => figures.at(-1)?.[1] === 'you')?.id ?? null,
    empty: '',
    verb: 'edit',
    command: '/rewind NUMBER',
    other: null,
  });
}

function rowOf(message: PlacedMessage): readonly PickerRow[] {
  const said = saidAt(message);
  // In the middle of a turn, its calls would be interrupted.
  const calls = message.kind === 'assistant' && message.content.parts.some(({ type }) => type === 'call');
  if (said === null || calls) return [];
  const { seq, at } = message;
  const ago = duration(Math.max(0, Date.now() - at));
  return [
    {
      id: String(seq),
      text: said.text.replaceAll(/\s+/g, ' '),
      figures: [
        ['dim', `${ago} ago`],
        [said.who === 'you' ? 'cyan' : 'dim', said.who],
      ],
    },
  ];
}

/** Goes back to before a message of the person, with its text in the draft (`edits`), or to when a message was there; files are asked about. */
async function goBack(app: AppContext, agent: Agent, message: PlacedMessage, edits: boolean): Promise<void> {
  const { store, options } = app;
  const { seq } = message;
  const said = saidAt(message);
  const draft = edits && said?.who === 'you' ? said.text : null;
  const root = await store.agent(agent.root_id);
  if (root === null) return;
  const at = { to: `${agent.id}#${seq}`, edit: draft === null ? undefined : null };
  const rewind = (order: Omit<RewindOrder, 'to'>) =>
    rewindTree(store, root, { ...at, ...order }, randomUUID(), dirname(options.output_folder));
  const go = async (files: boolean) => {
    const done = await rewind({ files });
    const { was } = agent;
    const same = done.agents.find((one) => one.was === agent.id || was?.includes(one.was));
    await app.openTree(same?.id ?? done.root_id);
    const words = clean(excerpt(said?.text ?? ''));
    const restored = done.files.filter((file) => file.restored);
    app.say(
      [
        `as it was ${draft === null ? 'at' : 'before'} ${words}; the other one stays: /resume ${root.id.slice(0, 8)}`,
        ...rewoundLines(done),
        ...restored.map(({ path }) => `${clean(path)} has its content of then`),
      ].join('\n'),
    );
    if (draft !== null) app.editor.setText(draft);
  };
  const plan = await rewind({ dry_run: true });
  if (plan.files.length === 0) return go(false);
  app.say([...plan.difference, ...plan.not_undone].join('\n'), 'difference');
  const run = (files: boolean) => () => app.attempt(() => go(files));
  app.dispatch({
    type: 'overlay',
    overlay: {
      type: 'consent',
      question: `Go back, and give ${counted(plan.files.length, 'file')} the content of then, as shown above?`,
      yes: 'go back, with the files',
      run: run(true),
      no: { text: 'go back, files stay', run: run(false) },
    },
  });
}
