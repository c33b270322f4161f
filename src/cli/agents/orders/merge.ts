import { existsSync } from 'node:fs';
import type { AgentDocument } from '../../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import { commandEnvironment } from '../../../processes/starting/unattended.ts';
import { framedName } from '../../../records/agent/agent-name.ts';
import type { ComposedText } from '../../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { clean } from '../../../render/clean.ts';
import { listed, mergeLock, mergeTarget } from '../../../runtime/worktree/branch-merge.ts';
import { type MergeTest, mergeAndTest } from '../../../runtime/worktree/merge-and-test.ts';
import type { Calls } from '../../../serve/client/client.ts';
import { unledText } from '../../../trees/leaders/unled-reason.ts';
import { ask } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';
import { onStopSignal } from '../../setup/end-process.ts';
import { printJson } from '../../setup/output.ts';
import { EXIT } from '../../start/exit-code.ts';
import { findAgent, hasEnded } from '../find-agent.ts';

type Row = DocumentOf<'coppice/merge/v1'>['merges'][number];
type Author = AgentDocument & { readonly worktree: NonNullable<AgentDocument['worktree']> };

/** `coppice merge ID…`: merges the branches one after the other and runs the test after each; a failure is mailed to the author of the branch. */
export function merge(context: Context, texts: readonly string[]): Promise<number> {
  return ask(context, async (asked) => {
    const authors = await authorsOf(context, asked, texts);
    const cwd = await folderOf(asked, authors);
    const { merge: { test: command = null, timeout_seconds } = {}, env_allow = [] } =
      context.loaded.configuration;
    const held = orRefused(await mergeLock(cwd));
    const stop = new AbortController();
    const removeHandlers = onStopSignal(() => stop.abort());
    const test: MergeTest = {
      command,
      timeout_seconds,
      env: commandEnvironment(env_allow),
      cwd,
      signal: stop.signal,
    };
    try {
      const place = orRefused(await mergeTarget(cwd));
      const merges: Row[] = [];
      for (const author of authors) {
        const row = await mergeOne(author, merges.length === 0 ? place : await mergeTarget(cwd), test, asked);
        merges.push(row);
        if (!context.json) process.stdout.write(`${lineOf(row)}\n`);
        // Further merges would build on a merge that failed its test and could not be undone.
        if (stop.signal.aborted || (row.status === 'test_failed' && row.commit !== null)) break;
      }
      const { folder, branch } = place.target;
      if (context.json) printJson({ schema: 'coppice/merge/v1', folder, branch, test: command, merges });
      if (stop.signal.aborted) return EXIT.interrupted;
      return merges.every(({ status }) => status === 'merged' || status === 'unchanged')
        ? EXIT.done
        : EXIT.failed;
    } finally {
      removeHandlers();
      held.lock.close();
    }
  });
}

function orRefused<T extends { readonly ok: true }>(
  result: T | { readonly ok: false; readonly error: string; readonly hint: string },
): T {
  if (result.ok) return result;
  throw new CoppiceError('E_REFUSED', `nothing is merged: ${result.error}`, { hint: result.hint });
}

/** Returns agents with worktrees, one for each branch. Rejects unless all can be merged now. */
async function authorsOf(
  context: Context,
  asked: Calls,
  texts: readonly string[],
): Promise<readonly Author[]> {
  const found = new Map<string, Author>();
  for (const text of texts) {
    const agent = await findAgent(context, asked, text);
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

async function folderOf(asked: Calls, authors: readonly Author[]): Promise<string> {
  const [root, ...others] = new Set(authors.map(({ root_id }) => root_id));
  if (root === undefined || others.length > 0)
    throw new CoppiceError('E_INVALID_ARGUMENT', 'the agents are of several trees', {
      hint: 'Merge one tree at a time',
    });
  let one = await asked.agent(root);
  // A continuation of a what-if goes into the folder of the tree that it continues.
  while (one.worktree !== null && one.forked_from !== null) one = await asked.agent(one.forked_from.agent_id);
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
  asked: Calls,
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
  return row(merged.status, {
    ...found,
    sent_to: letter === null ? null : await tell(author, letter, asked),
  });
}

/** Sends mail to the author, or to its nearest living ancestor if it has ended; returns the recipient's id, null if none is alive. */
async function tell(author: AgentDocument, letter: ComposedText, asked: Calls): Promise<string | null> {
  for (let one = author; ; ) {
    if (!hasEnded(one)) {
      const { running } = await asked.send(one.id, letter);
      const { unled } = await asked.agent(one.id);
      if (!running && unled !== null)
        process.stderr.write(`kept in the mailbox of ${clean(one.name)}; ${unledText(unled)}\n`);
      return one.id;
    }
    if (one.parent_id === null) return null;
    one = await asked.agent(one.parent_id);
  }
}

function lineOf(row: Row): string {
  const { status, name, branch, commit, files, error, sent_to } = row;
  const told =
    sent_to === null
      ? ''
      : `; ${sent_to === row.agent_id ? clean(name) : `agent ${sent_to.slice(0, 8)}`} was told`;
  const what = {
    merged: `merged as ${commit?.slice(0, 12)}`,
    unchanged: 'nothing new',
    conflict: `conflicts in ${clean(listed(files))}, not merged`,
    test_failed: `the test failed (${clean(error ?? '')}), not merged`,
    failed: `not merged: ${clean(error ?? '')}`,
  }[status];
  return `${clean(name)} (${branch}): ${what}${told}`;
}
