import type { Call } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { DeferredCall } from './advance-result.ts';
import type { View } from './view.ts';

/** Calls of toolsets in one step: those that are to be decided in it, and what came of them. */
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

  /** The next one to decide; what comes last waits for the others. */
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

  /** Reading a schema takes a while: yes for one call a step, so that everything else gets its turn. */
  mayReadSchema(): boolean {
    const is_first = !this.#has_read_schema;
    this.#has_read_schema = true;
    return is_first;
  }

  /** What was found out under this key is done with; nobody will work in a worktree that is `unused`. */
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
