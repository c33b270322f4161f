/** What the kernel must know of the agent beside its state. */
export interface TransitionContext {
  /** Its outcome goes to a parent that awaits it: it ends instead of idling (seeds 3 and 5). */
  readonly reports: boolean;
  /** It must call `submit_result` or `submit_error` to end well (seed 3). Only an agent that reports can. */
  readonly submits: boolean;
  /** A result counts only as it was submitted: it is checked then. */
  readonly checked?: boolean;
  /** Model requests of one turn. */
  readonly turns: number;
  /** All that an agent which reports has said in its run; looked up in its conversation, and only when it ends. Not there: nothing. */
  readonly said?: () => string;
  /** Where its work lies when it ends without having shown it: joins what is left of a failure. */
  readonly leaves?: string;
}
