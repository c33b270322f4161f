import { join, relative, sep } from 'node:path';
import { CHANGES_MAX, fileVersions } from '../../../documents/file-versions.ts';
import type { CutFacts } from '../../../kernel/cut/cut-facts.ts';
import { realPath } from '../../../processes/working-folder.ts';
import { type Agent, type AgentConfig, worktreeOf } from '../../../records/agent/agent.ts';
import { isTerminal } from '../../../records/agent/state.ts';
import type { Worktree } from '../../../records/agent/task-terms.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { given } from '../../../records/text/json-fields.ts';
import type { StartOptions } from '../../../runtime/runtime-face.ts';
import { noPastWorktree, pastWorktree } from '../../../runtime/worktree/past-worktree.ts';
import type { Store } from '../../../store/store.ts';
import { isOfPerson } from '../cut-point.ts';
import { cutAt, enterTree } from '../rewind-tree.ts';
import type { CaseStart, Cell, WhatIfOrder } from './what-if-run.ts';

/**
 * Makes the tree of a cell, at rest, with a worktree of its own. Resolves to the text that is still to be sent to its root; undefined if there is none. Nothing
 * is made twice for one `id`.
 */
export async function enterCell(
  store: Store,
  { root_id = '', at = '', here }: WhatIfOrder,
  { model, prompt, profile }: Cell,
  id: string,
  spill_dir: string,
): Promise<string | undefined> {
  const tree = await store.agent(root_id);
  if (tree === null) throw new CoppiceError('E_REFUSED', `the tree ${root_id.slice(0, 8)} was removed`);
  const edits = prompt !== undefined && (await isOfPerson(store, tree, at));
  const order = { to: at, edit: edits ? prompt : undefined, model };
  const change = async (root: Agent, facts: CutFacts) => {
    const worktree = here ? null : await worktreeAt(store, root, facts, id, spill_dir);
    return (config: AgentConfig, is_root: boolean): AgentConfig => {
      const own = is_root ? { ...config, ...profile } : config;
      return worktree === null ? own : inWorktree(own, realPath(root.config.cwd), worktree);
    };
  };
  if ((await store.agent(id)) === null)
    await enterTree(store, (await cutAt(store, tree, order, id, change)).cut);
  return edits ? undefined : prompt;
}

/** Rejects for a moment that is none, and for worktrees that cannot be made: every continuation would fail of that. */
export async function assertCells(store: Store, tree: Agent, at: string, here: boolean): Promise<void> {
  const change = async (root: Agent, facts: CutFacts) => {
    if (here) return undefined;
    assertNoWorktree(facts);
    await assertRepository(root.config.cwd, facts.point.at);
  };
  await cutAt(store, tree, { to: at }, tree.id, change);
}

export async function assertRepository(folder: string, at_ms: number): Promise<void> {
  const error = await noPastWorktree(realPath(folder), at_ms);
  if (error !== null) throw refused(error);
}

/** What a run of a case begins with, in a worktree of its own of what is checked out now. */
export async function cellOfCase(
  { prompt: task, config, limits }: CaseStart,
  { model, prompt = '', profile }: Cell,
  here: boolean,
  id: string,
  spill_dir: string,
): Promise<StartOptions> {
  const own = { ...config, ...profile, ...given({ model }) };
  const text = prompt.includes(TASK) ? prompt.replaceAll(TASK, () => task) : `${prompt}\n\n${task}`.trim();
  const start = { id, prompt: text, limits };
  if (here) return { ...start, config: own };
  const folder = realPath(config.cwd);
  const made = await pastWorktree(folder, spill_dir, nameOf(id), Date.now(), async () => new Map());
  if (!made.ok) throw refused(made.error);
  return { ...start, config: inWorktree(own, folder, made.worktree) };
}

const TASK = '{{task}}';
const nameOf = (id: string) => `${id.slice(0, 8)}-what-if`;

function assertNoWorktree({ cut, members }: CutFacts): void {
  const shared = members.find(
    (one) =>
      cut.places.has(one.id as string) &&
      !isTerminal(one.status as never) &&
      worktreeOf(JSON.parse(one.config as string) as AgentConfig) !== null,
  );
  if (shared !== undefined) throw refused(`${shared.name} works in a worktree of its own`);
}

function refused(why: string): CoppiceError {
  return new CoppiceError('E_REFUSED', `no worktree for this continuation: ${why}`, {
    hint: 'With --here (here: true) all of them work in the folder itself',
  });
}

/** A worktree as the folder was: the newest commit before the cut, with the files as agents of the tree had left them. */
async function worktreeAt(
  store: Store,
  root: Agent,
  facts: CutFacts,
  id: string,
  spill_dir: string,
): Promise<Worktree> {
  assertNoWorktree(facts);
  const { point, cut } = facts;
  const folder = realPath(root.config.cwd);
  const filesSince = async (commit_ms: number): Promise<ReadonlyMap<string, string>> => {
    const files = new Map<string, string>();
    const changes = (await store.treeChanges(root.id, CHANGES_MAX)).filter(
      ({ agent_id, seq, at }) => at >= commit_ms && seq <= (cut.places.get(agent_id) ?? 0),
    );
    for (const [path, [newest]] of Map.groupBy(changes, ({ result }) => result.file.path)) {
      const within = relative(folder, path);
      if (within.split(sep)[0] === '..') continue;
      const version = [...fileVersions(await store.fileChanges(path, CHANGES_MAX))].find(
        ({ change }) => change.agent_id === newest?.agent_id && change.seq === newest.seq,
      );
      if (version?.after == null) throw refused(`what ${within} was then is not known`);
      files.set(within, version.after);
    }
    return files;
  };
  const made = await pastWorktree(folder, spill_dir, nameOf(id), point.at, filesSince);
  if (made.ok) return made.worktree;
  throw refused(made.error);
}

/** The configuration of an agent whose folder was in `folder`. */
function inWorktree(config: AgentConfig, folder: string, worktree: Worktree): AgentConfig {
  const within = relative(folder, realPath(config.cwd));
  if (within.split(sep)[0] === '..') return config;
  const cwd = join(worktree.path, within);
  const told = `You work in ${cwd}, a copy of ${config.cwd} as it was. Paths of ${config.cwd} that the conversation names mean the copy: change nothing outside it.`;
  return { ...config, worktree, cwd, system: `${config.system}\n\n${told}` };
}
