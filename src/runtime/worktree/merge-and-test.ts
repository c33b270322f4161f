import { randomUUID } from 'node:crypto';
import { findShell, shellArguments } from '../../processes/find-shell.ts';
import { NewestOutput } from '../../processes/output/newest-output.ts';
import { runProcess } from '../../processes/starting/run-process.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import { type ComposedText, withAttachments } from '../../records/conversation/attached-text.ts';
import { listedNames } from '../../records/text/cut-text.ts';
import { delimiterOf } from '../../records/text/untrusted-text.ts';
import { type MergeTarget, mergeWorktree, undoMerge } from './branch-merge.ts';

const TIMEOUT_SECONDS = 600;
/** Maximum bytes of the test's output in the letter to the author; its end is kept. */
const OUTPUT_MAX = 8_000;

/** The test of the project, which decides whether a merge stays. */
export interface MergeTest {
  readonly command: string | null;
  readonly timeout_seconds?: number | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the tree, where the test is run. */
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** `letter` is for the author of the branch; null if nothing can be done about it. A failed test's merge is undone; otherwise its commit is given. */
export type TestedMerge =
  | { readonly status: 'merged'; readonly commit: string }
  | { readonly status: 'unchanged' }
  | { readonly status: 'failed'; readonly error: string }
  | {
      readonly status: 'conflict';
      readonly files: string[];
      readonly error: string;
      readonly letter: ComposedText;
    }
  | {
      readonly status: 'test_failed';
      readonly error: string;
      readonly commit: string | null;
      readonly letter: ComposedText | null;
    };

/** Merges the branch of an agent and runs the test; a merge whose test fails is undone. */
export async function mergeAndTest(
  target: MergeTarget,
  {
    id,
    name,
    worktree,
  }: { readonly id: string; readonly name: string; readonly worktree: Pick<Worktree, 'path' | 'branch'> },
  test: MergeTest,
): Promise<TestedMerge> {
  const merged = await mergeWorktree(target, worktree, `${name} (${id.slice(0, 8)})`);
  const where = `${target.branch} of ${target.folder} (commit ${target.head})`;
  const remedy = `In the worktree ${worktree.path}, bring the branch up to date with: git merge ${target.head}`;
  switch (merged.type) {
    case 'unchanged':
      return { status: 'unchanged' };
    case 'failed':
      return { status: 'failed', error: merged.error };
    case 'conflict': {
      const { files, diff } = merged;
      const text = `[coppice merge] The branch ${worktree.branch} of "${name}" could not be merged into ${where}: conflicts in ${listedNames(files)}. Nothing of it was merged. ${remedy}, resolve the conflicts so that what both sides want is kept, and commit. Then end your turn; it will be merged again.`;
      const attached = diff === '' ? [] : [{ label: 'the conflicts', text: diff }];
      const letter = withAttachments(text, attached, delimiterOf(randomUUID()));
      return { status: 'conflict', files: [...files], error: 'conflicts', letter };
    }
    case 'merged': {
      const failure = await testFailure(test);
      if (failure === null) return { status: 'merged', commit: merged.commit };
      const stays = await undoMerge(target, merged.commit);
      const error = [failure.why, ...(stays === null ? [] : [stays])].join('; ');
      if (stays !== null || test.signal.aborted)
        return { status: 'test_failed', error, commit: stays === null ? null : merged.commit, letter: null };
      const text = `[coppice merge] With the branch ${worktree.branch} of "${name}" merged into ${where}, the test failed (${failure.why}), so the merge was undone. The test: ${test.command}\n\n${remedy}, find out why, correct it and commit. Then end your turn; it will be merged again.\n\nThe end of its output:\n${failure.output}`;
      return { status: 'test_failed', error, commit: null, letter: { text } };
    }
  }
}

/** Returns why the test failed; null if it succeeded, or there is none. */
export async function testFailure({
  command,
  timeout_seconds = TIMEOUT_SECONDS,
  env,
  cwd,
  signal,
}: MergeTest) {
  if (command === null) return null;
  const newest = new NewestOutput(OUTPUT_MAX);
  const end = await runProcess({
    file: findShell(),
    args: shellArguments(command),
    place: cwd,
    env,
    signal,
    timeout_ms: timeout_seconds * 1_000,
    onOutput: (chunk) => newest.push(chunk),
  });
  const output = newest.text();
  switch (end.end) {
    case 'exited':
      if (end.code === 0) return null;
      return { why: end.code === null ? `signal ${end.signal}` : `exit ${end.code}`, output };
    case 'timed_out':
      return { why: `not done after ${timeout_seconds} s`, output };
    case 'aborted':
      return { why: 'interrupted', output };
    case 'over_limit':
      return { why: end.why, output };
    case 'not_started':
      return { why: `could not be started: ${end.error.message}`, output };
  }
}
