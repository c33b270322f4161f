import type { AgentConfig } from './agent/agent.ts';
import type { Skill } from './agent/skill.ts';
import type { FileStamp, Image } from './conversation/message.ts';
import type { Question, QuestionAnswer } from './question/question.ts';

export interface ToolContext {
  /** The agent's folder; paths are contained in it. Absolute, canonical. */
  readonly cwd: string;
  /** Where output that exceeds a result is saved; created on first use. */
  readonly spill_dir: string;
  readonly signal: AbortSignal;
  readonly agent: { readonly id: string; readonly name: string; readonly root_id: string };
  /** Environment variables that child processes may see in addition to the fixed allow-list. */
  readonly env_allow: readonly string[];
  /** The rule that denies `tool` this canonical path, relative to `cwd`; checked again at the moment of use. */
  readonly denied?: (tool: string, relative_path: string) => string | undefined;
  /** What the rules say of another subject of the same tool, for example where an address leads on to; without it, whatever is asked is allowed. */
  readonly judge?: (subject: string) => { readonly verdict: Verdict; readonly rule: string };
  /** Rules that exclude files from a search; its result names them. */
  readonly left_out?: readonly string[];
  /** What the agent has seen of files; without it, files are changed unseen. */
  readonly files?: SeenContext;
  /** Those of the agent. */
  readonly skills?: readonly Skill[];
  /** Asks a person in the middle of the work; the signal withdraws the question. Resolves at the latest when the call ends; without it, nobody can be asked. */
  readonly question?: (question: Question, signal: AbortSignal) => Promise<QuestionAnswer>;
  /** Live output for people; never part of the result. */
  readonly onOutput: (text: string) => void;
}

/** What tools that change files ask about them; paths are absolute and canonical. */
export interface SeenContext {
  /** The hash of the content that the agent has seen; undefined: it has seen none. */
  seen(path: string): string | undefined;
  /** Who changed it since the content with the hash `seen`, in words; null: nobody that the ledger knows of. */
  changedBy(path: string, seen: string | undefined, now: string): Promise<string | null>;
  /** Whether changes that the ledger holds lead to this content, so that it need not be kept. */
  isRecorded(path: string, hash: string): boolean;
}

export type Verdict = 'allow' | 'ask' | 'deny';

/** How permission rules judge the calls of a tool (docs/permissions.md). */
export interface ToolPermission {
  readonly name: string;
  /** What holds where no rule applies. */
  readonly default: Verdict;
  /** Patterns of subjects that are allowed where no rule applies, whatever the default. */
  readonly allowed: readonly string[];
  /** What patterns are matched against: a shell command, the path of a file, a folder whose files are judged one by one, an address of the web, or `Tool.subject`; `agents`: it creates them. */
  readonly subject: 'command' | 'path' | 'folder' | 'url' | 'text' | 'agents';
  /** It only looks, whatever holds by default: planning does not deny it. */
  readonly only_reads?: true;
  /** Tools whose rules about paths bind this one. */
  readonly bound_by: readonly string[];
}

/** What reading a file needs. */
export type PathContext = Pick<ToolContext, 'cwd' | 'denied' | 'files'> &
  Partial<Pick<ToolContext, 'spill_dir'>>;

/** `exit_code`: of the command that it ran. */
export type ToolResult =
  | {
      readonly status: 'ok';
      readonly output: string;
      readonly images?: readonly Image[];
      readonly file?: FileStamp;
      readonly exit_code?: number;
    }
  /** The text goes back to the model: say what is wrong, which field, and what to do. */
  | {
      readonly status: 'error';
      readonly output: string;
      readonly file?: FileStamp;
      readonly exit_code?: number;
    }
  /** Aborted by the signal; `output` is what there was by then. */
  | { readonly status: 'cancelled'; readonly output: string };

/**
 * One tool that acts on the world. The contract:
 * - `run` never throws: failures are results with status `error`.
 * - It resolves within 100 ms after `signal` aborts plus the time to stop its processes, and leaves nothing running.
 * - Its output is bounded for every input (`TOOL_LIMITS` in `src/processes/tool-limits.ts`).
 * - `parse` names the offending field in its error.
 */
export interface Tool<Input = unknown> {
  readonly spec: ToolSpec;
  readonly permission: ToolPermission;
  /** May run in parallel with other calls of the same message (reads may; bash and writes may not). */
  readonly side_by_side: boolean;
  /** Running it twice has the effect of running it once; only such calls are repeated after a crash. */
  readonly idempotent: boolean;
  /** Which agents see it; default: all that have it. */
  audience?(config: AgentConfig): boolean;
  parse(
    input: unknown,
  ): { readonly ok: true; readonly input: Input } | { readonly ok: false; readonly error: string };
  /** One line for people and for permission patterns: the command, the path. */
  subject(input: Input): string;
  /** What a run would change in the file as it is now, as a unified diff for people; null if unknown. Never throws. */
  difference?(input: Input, context: PathContext): string | null;
  /** Why a run would be refused whatever a person answers, for the model: nobody is asked then. Null: not known. Never throws. */
  refusal?(input: Input, context: PathContext): Promise<string | null>;
  /** The tool that a call stands for: rules, questions and the result are about that one. */
  stands_for?(input: Input): { readonly tool: Tool; readonly input: unknown } | { readonly error: string };
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** What a model is told about a tool. `input` is a JSON Schema of type `object`. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly input: Readonly<Record<string, unknown>>;
}
