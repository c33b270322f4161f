import type { Worktree } from '../../records/agent/task-terms.ts';

/** Something a call rests on that only the world can tell. The runtime finds it out before the call is decoded. */
export type Need =
  /** A model of this name can be asked. */
  | { readonly type: 'model'; readonly name: string }
  /** A folder inside `base`; `text` of the answer is its canonical path. */
  | { readonly type: 'folder'; readonly base: string; readonly path: string }
  /** A text file inside `base` that the agent may read; `text` is what it holds. */
  | { readonly type: 'file'; readonly base: string; readonly path: string }
  /** A git worktree of the repository around `base`, named by `id`. */
  | { readonly type: 'worktree'; readonly base: string; readonly id: string };

export type NeedAnswer =
  | { readonly ok: true; readonly text: string; readonly worktree?: Worktree }
  | { readonly ok: false; readonly error: string };

export function needKey(need: Need): string {
  return JSON.stringify(need);
}
