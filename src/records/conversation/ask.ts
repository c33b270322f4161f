import type { FormValue } from '../question/form-field.ts';
import type { ToolPermission } from '../tool.ts';

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
  /** How rules match it; `question`: a running call asks a person something, and no rule answers it; null in rows of older versions. */
  readonly subject_kind: ToolPermission['subject'] | 'question' | null;
  /** The arguments as the model wrote them; of a question, the question (`src/records/question/question.ts`). */
  readonly input: string;
  /** What it would change in a file as of asking, as a unified diff; null if unknown. */
  readonly difference: string | null;
  readonly cwd: string;
  /** The rules that ask, for people: `ask(bash:rm *)`; several are joined by `RULE_BREAK`. */
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly asked_at: number;
}

export const RULE_BREAK = '; ';

/** `void`: the call ended before anybody answered. */
export type AskVerdict = 'allow' | 'deny' | 'void';

/**
 * How far an `allow` reaches. `once`: this call. The others grant a rule: `turn` to this agent until its turn ends, `agent` to this agent, `session` to
 * every agent of its tree, `always` to every agent in its folder, in later trees too.
 */
export const ASK_SCOPES = ['once', 'turn', 'agent', 'session', 'always'] as const;
export type AskScope = (typeof ASK_SCOPES)[number];

export interface AskAnswer {
  readonly verdict: Exclude<AskVerdict, 'void'>;
  readonly scope: AskScope;
  /** The rule that is granted; by default the whole tool. */
  readonly rule?: string | undefined;
  /** What the person says to the model with a `deny`; empty for nothing. With an `allow` of a question, the values that were given, as JSON. */
  readonly note: string;
  /** With an `allow` of a question: what was filled in. */
  readonly values?: Readonly<Record<string, FormValue>> | undefined;
  /** With a `deny` of a question: it was put away, without a decision. */
  readonly dismissed?: boolean | undefined;
  readonly by: string;
  readonly at: number;
}

export interface Ask extends NewAsk {
  readonly verdict: AskVerdict | null;
  readonly scope: AskScope | null;
  /** The rule that was granted; null for the whole tool. */
  readonly granted: string | null;
  readonly note: string | null;
  readonly answered_by: string | null;
  readonly answered_at: number | null;
  /** When what was granted was taken back. */
  readonly revoked_at: number | null;
}
