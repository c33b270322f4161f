/** A call that a person must approve; bound to this call and its exact arguments (docs/permissions.md). */
export interface NewAsk {
  readonly id: string;
  readonly root_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly call_id: string;
  readonly tool: string;
  /** What rules match: the command, the path. */
  readonly subject: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
  /** What it would change in a file as of asking, as a unified diff; null if unknown. */
  readonly difference: string | null;
  readonly cwd: string;
  /** The rule that asks, for people: `ask(bash:rm *)`. */
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly asked_at: number;
}

/** `void`: the call ended before anybody answered. */
export type AskVerdict = 'allow' | 'deny' | 'void';

/** Scope of an `allow`: this call, or this tool for the agent's lifetime. */
export type AskScope = 'once' | 'agent';

export interface AskAnswer {
  readonly verdict: Exclude<AskVerdict, 'void'>;
  readonly scope: AskScope;
  /** What the person says to the model with a `deny`; empty for nothing. */
  readonly note: string;
  readonly by: string;
  readonly at: number;
}

export interface Ask extends NewAsk {
  readonly verdict: AskVerdict | null;
  readonly scope: AskScope | null;
  readonly note: string | null;
  readonly answered_by: string | null;
  readonly answered_at: number | null;
}
