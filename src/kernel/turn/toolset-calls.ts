import type { Call } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { DeferredCall } from './advance-result.ts';
import type { View } from './view.ts';

/** Calls of toolsets in one step: those to be decided, and those deferred. */
export class ToolsetCalls {
  readonly #tools: View['tools'];
  readonly #started: Call[] = [];
  readonly #deferred: DeferredCall[] = [];
  readonly #answered: string[] = [];
  readonly #unused: Worktree[] = [];
  #has_read_schema = false;

  constructor(tools: View['tools']) {
    this.#tools = tools;
  }

  start(call: Call): void {
    this.#started.push(call);
  }

  /** The next call to decide; calls of tools that come last wait for the others. */
  next(): Call | undefined {
    const at = this.#started.findIndex(({ name }) => this.#tools.get(name)?.comes_last !== true);
    return this.#started.splice(Math.max(at, 0), 1)[0];
  }

  defer(call: Call, until: Partial<Omit<DeferredCall, 'call'>> = {}): void {
    this.#deferred.push({ call, look_up: [], needs: [], survey: false, ...until });
  }

  get deferred(): readonly DeferredCall[] {
    return this.#deferred;
  }

  /** Allows one call with schemas per step: compiling them may take long and blocks other agents. */
  mayReadSchema(): boolean {
    const is_first = !this.#has_read_schema;
    this.#has_read_schema = true;
    return is_first;
  }

  /** Drops the answer under this key; nobody will work in the worktree `unused`. */
  useAnswer(key: string, unused?: Worktree): void {
    this.#answered.push(key);
    if (unused !== undefined) this.#unused.push(unused);
  }

  get answered(): readonly string[] {
    return this.#answered;
  }

  get unused(): readonly Worktree[] {
    return this.#unused;
  }
}
