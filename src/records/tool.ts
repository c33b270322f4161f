import type { Agent, AgentConfig } from './agent/agent.ts';
import type { Skill } from './agent/skill.ts';
import type { FileStamp, Image } from './conversation/message.ts';
import type { Question, QuestionAnswer } from './question/question.ts';
import type { ServerOffers } from './server-offers.ts';

export interface ToolContext {
  /** The agent's folder; paths are contained in it. Absolute, canonical. */
  readonly cwd: string;
  /** Folder for output that is too large for a result; created on first use. */
  readonly spill_dir: string;
  readonly signal: AbortSignal;
  readonly agent: { readonly id: string; readonly name: string; readonly root_id: string };
  /** What the rules, or a person, judged the call by (`Tool.subject`). */
  readonly subject?: string;
  /** Environment variables that child processes may see in addition to the fixed allow-list. */
  readonly env_allow: readonly string[];
  /** Returns the rule that denies `tool` this canonical path, relative to `cwd`; called again at the moment of use. */
  readonly denied?: (tool: string, relative_path: string) => string | undefined;
  /** Verdict of the rules on another subject of the same tool, for example the target of a redirect; if absent, every subject is allowed. */
  readonly judge?: (subject: string) => { readonly verdict: Verdict; readonly rule: string };
  /** Rules that exclude files from a search; its result names them. */
  readonly left_out?: readonly string[];
  /** Files that the agent has seen; if absent, files may be changed without having been read. */
  readonly files?: SeenContext;
  /** Skills of the agent. */
  readonly skills?: readonly Skill[];
  /** Asks a person while the call runs; the signal withdraws the question. Resolves at the latest when the call ends. If absent, nobody can be asked. */
  readonly question?: (question: Question, signal: AbortSignal) => Promise<QuestionAnswer>;
  /** Tells people something, in one sentence. */
  readonly notice?: (text: string) => void;
  /** Live output for people; never part of the result. */
  readonly onOutput: (text: string) => void;
  /** Takes a function that returns the output so far, which stays if the call is stopped: its own result comes too late then. Bounded as results are. */
  readonly soFar?: (printed: () => string) => void;
}

/** Queries of tools that change files; paths are absolute and canonical. */
export interface SeenContext {
  /** Hash of the content that the agent has seen; undefined if it has seen none. */
  seen(path: string): string | undefined;
  /** Describes the changes since the content with the hash `seen` that led to the current hash `now`; null if the ledger has none. */
  changedBy(path: string, seen: string | undefined, now: string): Promise<string | null>;
  /** Whether changes in the ledger produced this content, so that its text need not be kept. */
  isRecorded(path: string, hash: string): boolean;
}

export type Verdict = 'allow' | 'ask' | 'deny';

/** How permission rules judge the calls of a tool (docs/permissions.md). */
export interface ToolPermission {
  readonly name: string;
  /** Verdict where no rule applies. */
  readonly default: Verdict;
  /** Patterns of subjects that are allowed where no rule applies, regardless of `default`. */
  readonly allowed: readonly string[];
  /**
   * Kind of text that patterns match: a shell command, the path of a file, a folder whose files are judged one by one, a URL, or the text of `Tool.subject`.
   * `agents`: the tool creates agents. `script`: a script by `scriptSubject`, whose name patterns match, while grants match it exactly.
   */
  readonly subject: 'command' | 'path' | 'folder' | 'url' | 'text' | 'agents' | 'script';
  /** Set if the tool only reads, so that the mode `plan` does not deny it, regardless of `default`. */
  readonly only_reads?: true;
  /** Names of tools whose path rules also apply to this tool. */
  readonly bound_by: readonly string[];
}

/** Context needed to read a file. */
export type PathContext = Pick<ToolContext, 'cwd' | 'denied' | 'files'> &
  Partial<Pick<ToolContext, 'spill_dir' | 'agent'>>;

/** `exit_code`: exit code of the command that the tool ran. */
export type ToolResult =
  | {
      readonly status: 'ok';
      readonly output: string;
      readonly images?: readonly Image[];
      readonly file?: FileStamp;
      readonly exit_code?: number;
    }
  /** `output` goes back to the model: it says what is wrong, in which field, and what to do. */
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
 * - Its output is bounded for every input.
 * - `parse` names the offending field in its error.
 */
export interface Tool<Input = unknown> {
  readonly spec: ToolSpec;
  /** Whether it is a tool of Coppice, for which names of other programs' parameters are known; default: no. */
  readonly own?: boolean;
  readonly permission: ToolPermission;
  /** Set if a program's definition says what holds where no rule applies; the other tools of programs are allowed. */
  readonly is_judged?: boolean;
  /** Whether calls may run in parallel with other such calls of the same message (reads may; bash and writes may not). */
  readonly side_by_side: boolean;
  /** Whether calls are idempotent; only such calls are repeated after a crash. */
  readonly idempotent: boolean;
  /** Whether the model of an agent with this configuration is sent the tool, which it may call in any case; default: yes. */
  audience?(config: AgentConfig): boolean;
  parse(
    input: unknown,
  ): { readonly ok: true; readonly input: Input } | { readonly ok: false; readonly error: string };
  /** One line for people and for permission patterns: the command, the path. `cwd`: the agent's folder. */
  subject(input: Input, cwd?: string): string;
  /** Unified diff, for people, of what a run would change in the file now; null if unknown. Of a script: what it would do, and the script. Never throws. */
  difference?(input: Input, context: PathContext): Promise<string | null> | string | null;
  /** Returns, for the model, why a run would fail even if approved; then nobody is asked. Null: no known reason. Never throws. */
  refusal?(input: Input, context: PathContext): Promise<string | null>;
  /** Returns the tool that a call stands for, to which rules, questions and the result then refer, or why there is none. */
  stands_for?(input: Input): { readonly tool: Tool; readonly input: unknown } | { readonly error: string };
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** Description of a tool for models. `input` is a JSON Schema of type `object`. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The tools that an agent gets from the servers that its configuration names. */
export interface ServerTools {
  /** Tools of its requests from the first one on: those that are described, and where needed the two that search. */
  readonly tools: readonly Tool[];
  /** Text for the model beside the tools; may be empty. */
  readonly note: string;
  /** What a person should know of servers that cannot be used, are late, or have odd tools: sentences that nobody of the tree was told before. */
  readonly faults: readonly string[];
  /** Finds any tool of its servers, as they are now. */
  find(name: string): Tool | undefined;
}

/** The servers of a process. */
export interface ToolServers {
  /** Starts the servers that the agent's tools need. Never rejects: servers that cannot be used are left out. */
  offer(agent: Pick<Agent, 'root_id' | 'config'>): Promise<ServerTools>;
  /** What these servers offer to people. Never rejects: servers that cannot be used, or have not answered within some seconds, offer nothing. */
  offers(agent: Pick<Agent, 'root_id' | 'config'>): Promise<ServerOffers>;
  /** Ends all servers. Never rejects. */
  close(): Promise<void>;
}
