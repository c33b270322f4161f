import { CHANGES_MAX } from '../../documents/file-versions.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { CutFacts, CutOrder, CutTree } from '../../kernel/cut/cut-facts.ts';
import { cutTree } from '../../kernel/cut/cut-tree.ts';
import type { HowCallsRun } from '../../kernel/cut/state-at.ts';
import type { Row } from '../../kernel/ledger/tables.ts';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import { containPath } from '../../permissions/path-containment.ts';
import { realPath } from '../../processes/working-folder.ts';
import { type Agent, type AgentConfig, worktreeOf } from '../../records/agent/agent.ts';
import type { Message, PlacedMessage, ResultContent } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { Store } from '../../store/store.ts';
import { restoreFile } from '../../tools/files/change-file.ts';
import { createBuiltInTools } from '../../tools/tool-registry.ts';
import { derivedId } from '../derived-id.ts';
import { cutPoint, isOfPerson } from './cut-point.ts';
import { restorationsOf } from './file-restoration.ts';

type Rewound = DocumentOf<'coppice/rewind/v1'>;

/** Lines of differences that are shown. */
const LINES_MAX = 400;

/** What a person asks for. */
export interface RewindOrder {
  /** As `cutPoint` reads it. */
  readonly to: string;
  /** Text that takes the place of the message that `to` names, or of the result of the call; null: the message is left out, for somebody who writes it anew. */
  readonly edit?: string | null | undefined;
  /** The model of the agent that `to` names, else of all that have the model of the root. */
  readonly model?: string | undefined;
  /** Whether files that `write` and `patch` changed since get the content that they had. */
  readonly files?: boolean | undefined;
  /** Only says what would be done. */
  readonly dry_run?: boolean | undefined;
}

const TOOLS = new Map<string, ReturnType<HowCallsRun>>([
  ...createBuiltInTools().map(
    ({ spec, side_by_side }) => [spec.name, side_by_side ? 'beside' : 'alone'] as const,
  ),
  ...ALL_TOOLSETS.flatMap(({ tools }) => tools.map(({ spec }) => [spec.name, 'decided'] as const)),
]);
const how: HowCallsRun = (name) => TOOLS.get(name);

/**
 * Takes a tree back: makes a new one, as the tree was then. The old one stays as it is and goes on; the new one rests until somebody goes on with it. `id`: of
 * its root; an order that is repeated with it makes nothing twice. Rejects with a `CoppiceError`.
 */
export async function rewindTree(
  store: Store,
  tree: Agent,
  { files = false, dry_run = false, ...asked }: RewindOrder,
  id: string,
  lock_folder: string,
): Promise<Rewound> {
  const order = await withoutOwn(store, tree, asked);
  const { root, edited, facts, cut } = await cutAt(store, tree, order, id);
  if (!dry_run) await enterTree(store, cut);
  const folder = realPath(root.config.cwd);
  const changes = (await store.treeChanges(root.id, CHANGES_MAX)).filter(
    ({ agent_id, seq }) => seq > (facts.cut.places.get(agent_id) ?? 0),
  );
  const changed = Map.groupBy(changes, ({ result }) => result.file.path);
  const found = await restorationsOf(store, folder, changed);
  const restored: string[] = [];
  for (const { path, from, text } of files && !dry_run ? found.files : [])
    if (await restoreFile(() => containPath(folder, path), from, text, lock_folder)) restored.push(path);
  const later = facts.members.filter((one) => !facts.cut.places.has(one.id as string));
  return rewindDocument(cut, {
    root_id: dry_run ? null : id,
    later: later.map(({ name }) => name as string),
    edited: order.edit === null ? null : (edited?.seq ?? null),
    files: found.files.map(({ path }) => ({ path, restored: restored.includes(path) })),
    difference: found.shown.slice(0, LINES_MAX),
    not_undone: [
      ...found.left,
      ...(facts.commands === 0
        ? []
        : [
            `what ${facts.commands === 1 ? 'a command' : `${facts.commands} commands`} changed is not known, and stays as it is`,
          ]),
      ...worktrees(cut.agents, facts.members),
    ],
    lasts: new Map(facts.members.map((one) => [one.id as string, one.last_seq as number])),
  });
}

/** Before a message of a person it is not on its way either: whoever goes back to there writes another one, or nothing. */
async function withoutOwn(store: Store, tree: Agent, order: RewindOrder): Promise<RewindOrder> {
  const to = /^\s*before\s+(.*)$/is.exec(order.to)?.[1];
  if (to === undefined || order.edit !== undefined || !(await isOfPerson(store, tree, to))) return order;
  return { ...order, to, edit: null };
}

/** The tree as it was, as a new one that is not in the ledger yet. `changing`: what else is different in it. Rejects with a `CoppiceError`. */
export async function cutAt(
  store: Store,
  tree: Agent,
  { to, edit: text, model }: Pick<RewindOrder, 'to' | 'edit' | 'model'>,
  id: string,
  changing: (root: Agent, facts: CutFacts) => Promise<CutOrder['change']> = async () => undefined,
) {
  const { root, point, edited } = await cutPoint(store, tree, to, text !== undefined);
  const facts = await store.cutFacts(root.id, point);
  if (facts === null) throw gone(root.id);
  let made = 0;
  const newId = () => {
    made += 1;
    return derivedId(`${id} ${made}`);
  };
  const edit =
    edited === undefined || text === undefined
      ? undefined
      : {
          agent_id: point.agent_id as string,
          message: text === null ? null : editedMessage(edited, storable(text)),
        };
  const change = await changing(root, facts);
  const cut = cutTree(facts, { now: await store.now(), root_id: id, newId, how, edit, model, change });
  return { root, edited, facts, cut };
}

/** Enters the new tree; a no-op if it is there. */
export async function enterTree(store: Store, cut: CutTree): Promise<void> {
  if (!(await store.enterCut(cut))) throw gone(cut.place.of);
}

/** The message with another text: a fork is still told who it is, and an answer makes no calls. */
function editedMessage({ kind, content, seq }: PlacedMessage, text: string): Message {
  if (kind !== 'result' && text.trim() === '')
    throw new CoppiceError('E_INVALID_ARGUMENT', `the text in place of message ${seq} is empty`);
  if (kind === 'user') {
    const { origin, facts } = content;
    if (facts?.fork === undefined) return { kind, content: { origin, text } };
    const told = content.text.slice(0, facts.fork.task);
    return { kind, content: { origin, text: told + text, facts: { fork: facts.fork } } };
  }
  if (kind === 'assistant')
    return { kind, content: { model: content.model, parts: [{ type: 'text', text }] } };
  const { call_id, name } = content as ResultContent;
  return { kind: 'result', content: { call_id, name, status: 'ok', output: text } };
}

function gone(root_id: string): CoppiceError {
  return new CoppiceError('E_REFUSED', `the tree ${root_id.slice(0, 8)} was removed meanwhile`);
}

function rewindDocument(
  { place, agents, letters }: CutTree,
  {
    root_id,
    later,
    lasts,
    edited,
    ...told
  }: Pick<Rewound, 'root_id' | 'files' | 'difference' | 'not_undone'> & {
    readonly later: readonly string[];
    readonly edited: number | null;
    readonly lasts: ReadonlyMap<string, number>;
  },
): Rewound {
  return {
    schema: 'coppice/rewind/v1',
    root_id,
    of: place.of,
    at: new Date(place.at).toISOString(),
    agents: agents.map(({ id, was, name, seq, state }) => ({
      id: root_id === null ? null : id,
      was,
      name,
      state: state.type,
      messages: seq,
      later: Math.max(0, (lasts.get(was) ?? seq) - seq),
      interrupted:
        state.type === 'executing'
          ? state.running.filter((one) => !one.child && !one.wait).map(({ call }) => call.name)
          : [],
    })),
    born_later: later,
    ...told,
    letters: letters.length,
    edited:
      edited === null
        ? null
        : { seq: edited, name: agents.find(({ was }) => was === place.agent_id)?.name ?? '' },
  };
}

/** Agents of both trees that work in one folder. */
function worktrees(agents: CutTree['agents'], members: readonly Row[]): string[] {
  const configs = new Map(members.map(({ id, config }) => [id, config as string]));
  return agents.flatMap(({ was, name }) => {
    const own = worktreeOf(JSON.parse(configs.get(was) ?? '{}') as AgentConfig);
    return own === null
      ? []
      : [`the worktree of ${name} (${own.path}) stays as it is, and both trees work in it`];
  });
}
