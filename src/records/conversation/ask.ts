import type { FormValue } from '../question/form-field.ts';
import type { ToolPermission } from '../tool.ts';

/** A request to a person to approve a call; bound to this call and its exact arguments (docs/permissions.md). */
export interface NewAsk {
  readonly id: string;
  readonly root_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly call_id: string;
  readonly tool: string;
  /** The text that rules match: the command, the path. */
  readonly subject: string;
  /** How rules match `subject`. `question`: a question of a running call, which no rule answers. Null in rows of older versions. */
  readonly subject_kind: ToolPermission['subject'] | 'question' | null;
  /** The arguments as the model wrote them; for a question, the question as JSON (`src/records/question/question.ts`). */
  readonly input: string;
  /** Unified diff of the change to a file, computed when asking; null if unknown. */
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
  /** What was shown to the person who answers: the digest (`src/store/approvals/shown-digest.ts`), or the id or the beginning of it that they saw; default: the id. */
  readonly shown?: string | undefined;
  /** The rule to grant; by default the whole tool. */
  readonly rule?: string | undefined;
  /** With a `deny`, the person's message to the model, possibly empty. With an `allow` of a question, the given values as JSON. */
  readonly note: string;
  /** With an `allow` of a question: the values filled in. */
  readonly values?: Readonly<Record<string, FormValue>> | undefined;
  /** With a `deny` of a question: whether it was dismissed without a decision. */
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
  /** When the granted rule was revoked. */
  readonly revoked_at: number | null;
}
