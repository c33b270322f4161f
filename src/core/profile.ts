import type { PermissionRules } from './agent.ts';

/** A named kind of agent: what it may differ in from its creator. Null stands for "as the creator has it". */
export interface Profile {
  /** Kebab-case. */
  readonly name: string;
  /** When to use it, for models and people; empty when nothing is said. */
  readonly description: string;
  /** `provider/model`. */
  readonly model: string | null;
  readonly thinking: 'off' | 'low' | 'medium' | 'high' | null;
  readonly toolsets: readonly string[] | null;
  /** The only tools it may have; empty for none. */
  readonly tools: readonly string[] | null;
  /** Taken away from what it would have otherwise. */
  readonly deny_tools: readonly string[];
  /** The system prompt. */
  readonly system: string | null;
  /** Requests to the model, at most. */
  readonly turns: number | null;
  /** Milliseconds, at most. */
  readonly run_ms: number | null;
  readonly permissions: PermissionRules;
  /** Where it was read: `config`, `built in`, or a file's path relative to its folder. */
  readonly source: string;
}
