/** What makes an agent a workflow run: its script decides what it does next, not a model (docs/workflows.md). */
export interface WorkflowTerms {
  readonly name: string;
  readonly description: string;
  /** The whole script. The run keeps it, whatever becomes of its file. */
  readonly script: string;
  /** The workflows that it may run, as whoever allowed the run saw them; `wanted`: how it names them. Any other one needs a rule. */
  readonly within?: readonly {
    readonly wanted: string;
    readonly name: string;
    readonly description: string;
    readonly script: string;
  }[];
  /** Instead of a script: a function of the program that started it, in which alone it can run. */
  readonly program?: true;
  /** JSON of the value that the script sees as `args`; absent: `undefined`. */
  readonly args?: string;
  /** Seed of `Math.random()` and the instant of `Date.now()`: the same at every replay. */
  readonly seed: string;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  /** Maximum calls of `agent()`. */
  readonly calls: number;
  /** The tokens that a person gave its tree; absent: its budget is that of its chain. */
  readonly tokens?: number;
  /** Instead of a script: the agent asks a person this question, and its result is the answer. */
  readonly ask?: {
    readonly question: string;
    readonly choices?: readonly string[];
    readonly schema?: Readonly<Record<string, unknown>>;
  };
  /** Outbox targets of what `notify` tells, beside the chat of its tree. */
  readonly deliver?: readonly string[];
  /** A workflow that another one has started; it starts none. */
  readonly nested?: true;
  /** Set while a person keeps the run from going on. */
  readonly paused?: WorkflowPause;
  /** The run of which results are taken where this one asks for the same, except for calls with one of these labels or phases (docs/workflows.md#rerun). */
  readonly reuses?: { readonly run: string; readonly fresh: readonly string[] };
  /** The conversation that `context: 'fork'` gives to an agent: that of whoever started the workflow, up to this message. */
  readonly from?: { readonly agent_id: string; readonly seq: number };
}

/** `stops`: what was under way was broken off; otherwise it came to its end. */
export interface WorkflowPause {
  readonly by: string;
  readonly stops: boolean;
}

/** Maximum calls of `agent()` in a run, unless it is given another. */
export const DEFAULT_CALLS = 1_000;

const RETRY = '/retry ';

/** The letter of a person to a run by which it runs one of its agents again (docs/workflows.md#pause-stop-and-steer). */
export function retryLetter(agent_id: string): string {
  return RETRY + agent_id;
}

/** The agent that a letter to a run is about; null for any other letter. */
export function retriedIn(letter: string): string | null {
  return letter.startsWith(RETRY) ? letter.slice(RETRY.length).trim() : null;
}

/** Where the value that a script returned stands in the last message of its run. */
export interface ResultPlace {
  readonly from: number;
  /** A text as it is; otherwise JSON. */
  readonly is_text: boolean;
}
