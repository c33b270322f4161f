/** What the kernel must know of the agent beside its state. */
export interface TransitionContext {
  /** Its outcome goes to a parent that awaits it: it ends instead of idling (seeds 3 and 5). */
  readonly reports: boolean;
  /** It must call `submit_result` or `submit_error` to end well (seed 3). Only an agent that reports can. */
  readonly submits: boolean;
  /** Model requests of one turn. */
  readonly turns: number;
  /** Where its work lies when it ends without having shown it: joins what is left of a failure. */
  readonly leaves?: string;
}
