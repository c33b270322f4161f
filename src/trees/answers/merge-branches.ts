import { existsSync } from 'node:fs';
import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { framedName } from '../../records/agent/agent-name.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { mergeLock, mergeTarget } from '../../runtime/worktree/branch-merge.ts';
import { type MergeTest, mergeAndTest } from '../../runtime/worktree/merge-and-test.ts';

type Merges = DocumentOf<'coppice/merge/v1'>;
type Row = Merges['merges'][number];
type Author = AgentDocument & { readonly worktree: NonNullable<AgentDocument['worktree']> };

/** What a merge asks of the ledger, directly or through a server. */
export interface MergeCalls {
  agent(id: string): Promise<DocumentOf<'coppice/agent/v1'>>;
  send(id: string, letter: ComposedText): Promise<unknown>;
}

export interface MergeOrder extends Omit<MergeTest, 'cwd'> {
  /** Checks whether and where branches would be merged; merges none. */
  readonly dry_run?: boolean | undefined;
  /** Called after each branch. */
  readonly onRow?: (row: Row) => Promise<void>;
}

/**
 * Merges the branches of agents of one tree into its folder, one after the other, with the test after each; a failure is mailed to the author of the branch.
 * Rejects with a `CoppiceError` unless all can be merged now.
 */
export async function mergeBranches(
  named: readonly AgentDocument[],
  calls: MergeCalls,
  { dry_run = false, onRow, ...order }: MergeOrder,
): Promise<Merges> {
  const authors = authorsOf(named);
  const cwd = await folderOf(calls, authors);
  const held = orRefused(await mergeLock(cwd));
  try {
    const place = orRefused(await mergeTarget(cwd));
    const merges: Row[] = [];
    for (const author of dry_run ? [] : authors) {
      const next = merges.length === 0 ? place : await mergeTarget(cwd);
      const row = await mergeOne(author, next, { ...order, cwd }, calls);
      merges.push(row);
      await onRow?.(row);
      // Further merges would build on a merge that failed its test and could not be undone.
      if (order.signal.aborted || (row.status === 'test_failed' && row.commit !== null)) break;
    }
    const { folder, branch } = place.target;
    return { schema: 'coppice/merge/v1', folder, branch, test: order.command, merges };
  } finally {
    held.lock.close();
  }
}

function orRefused<T extends { readonly ok: true }>(
  result: T | { readonly ok: false; readonly error: string; readonly hint: string },
): T {
  if (result.ok) return result;
  throw new CoppiceError('E_REFUSED', `nothing is merged: ${result.error}`, { hint: result.hint });
}

/** Agents with worktrees, one for each branch. */
function authorsOf(named: readonly AgentDocument[]): readonly Author[] {
  const found = new Map<string, Author>();
  for (const agent of named) {
    const { worktree } = agent;
    const name = clean(agent.name);
    if (worktree === null)
      throw new CoppiceError('E_INVALID_ARGUMENT', `${name} has no worktree, so there is nothing to merge`, {
        hint: 'Agents get one with worktree: true of fork and of the tools that spawn (docs/worktrees.md)',
      });
    if (agent.status === 'running' || agent.status === 'waiting' || agent.status === 'unled')
      throw new CoppiceError('E_REFUSED', `${name} is still at work`, {
        hint: `Wait for it first: coppice wait ${agent.id.slice(0, 8)}`,
      });
    // Forks of an agent in a worktree share it: the first of them that is named stands for all.
    if (!found.has(worktree.branch)) found.set(worktree.branch, { ...agent, worktree });
  }
  return [...found.values()];
}

async function folderOf(calls: MergeCalls, authors: readonly Author[]): Promise<string> {
  const [root, ...others] = new Set(authors.map(({ root_id }) => root_id));
  if (root === undefined || others.length > 0)
    throw new CoppiceError('E_INVALID_ARGUMENT', 'the agents are of several trees', {
      hint: 'Merge one tree at a time',
    });
  let one = await calls.agent(root);
  // A continuation of a what-if goes into the folder of the tree that it continues.
  while (one.worktree !== null && one.forked_from !== null) one = await calls.agent(one.forked_from.agent_id);
  const { cwd } = one;
  if (!existsSync(cwd))
    throw new CoppiceError('E_NO_FOLDER', `the folder of the tree is not on this machine: ${clean(cwd)}`, {
      hint: 'Merge where its agents work',
    });
  return cwd;
}

async function mergeOne(
  author: Author,
  place: Awaited<ReturnType<typeof mergeTarget>>,
  test: MergeTest,
  calls: MergeCalls,
): Promise<Row> {
  const { id, worktree } = author;
  const name = framedName(author.name);
  const row = (status: Row['status'], more: Partial<Row> = {}): Row => ({
    agent_id: id,
    name: author.name,
    branch: worktree.branch,
    status,
    commit: null,
    files: [],
    error: null,
    sent_to: null,
    ...more,
  });
  if (!place.ok) return row('failed', { error: `${place.error}. ${place.hint}` });
  const merged = await mergeAndTest(place.target, { id, name, worktree }, test);
  if (!('letter' in merged)) return row(merged.status, merged);
  const { letter, ...found } = merged;
  const sent_to = letter === null ? null : await tell(author, letter, calls);
  return row(merged.status, { ...found, sent_to });
}

/** Sends mail to the author, or to its nearest living ancestor if it has ended; returns the recipient's id, null if none is alive. */
async function tell(author: AgentDocument, letter: ComposedText, calls: MergeCalls): Promise<string | null> {
  for (let one = author; ; one = await calls.agent(one.parent_id)) {
    if (!isTerminal(one.state)) {
      await calls.send(one.id, letter);
      return one.id;
    }
    if (one.parent_id === null) return null;
  }
}
