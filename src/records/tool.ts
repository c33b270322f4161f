import type { Image } from './conversation/message.ts';
import type { ToolSpec } from './tool-spec.ts';

export interface ToolContext {
  /** The agent's folder; paths are contained in it. Absolute, canonical. */
  readonly cwd: string;
  /** Where output that does not fit a result is kept; created on first use. */
  readonly spill_dir: string;
  readonly signal: AbortSignal;
  readonly agent: { readonly id: string; readonly name: string };
  /** Names of environment variables that child processes may see beside the fixed allow-list. */
  readonly env_allow: readonly string[];
  /** The rule that keeps `tool` from this canonical path, relative to `cwd`; asked again at the moment of use. */
  readonly denied?: (tool: string, relative_path: string) => string | undefined;
  /** Rules that keep a search from some files, for its result to name. */
  readonly left_out?: readonly string[];
  /** Live output for people; never part of the result. */
  readonly onOutput: (text: string) => void;
}

/** What a look at a file needs. */
export type PathContext = Pick<ToolContext, 'cwd' | 'denied'> & Partial<Pick<ToolContext, 'spill_dir'>>;

export type ToolResult =
  | { readonly status: 'ok'; readonly output: string; readonly images?: readonly Image[] }
  /** The text goes back to the model: say what is wrong, which field, and what to do. */
  | { readonly status: 'error'; readonly output: string }
  /** The signal aborted it; `output` is what was there by then. */
  | { readonly status: 'cancelled'; readonly output: string };

/**
 * One tool that acts on the world. The contract:
 * - `run` never throws: failures are results with status `error`.
 * - It resolves soon after `signal` aborts (100 ms and the time to stop its processes), leaving nothing running.
 * - Its output is bounded (`limits` in `output.ts`), whatever the input.
 * - `parse` names the offending field in its error.
 */
export interface Tool<Input = unknown> {
  readonly spec: ToolSpec;
  /** May run beside other calls of the same message (reads do; bash and writes do not). */
  readonly side_by_side: boolean;
  /** Running it twice equals running it once; only such calls are repeated after a crash. */
  readonly idempotent: boolean;
  parse(
    input: unknown,
  ): { readonly ok: true; readonly input: Input } | { readonly ok: false; readonly error: string };
  /** One line for people and for permission patterns: the command, the path. */
  subject(input: Input): string;
  /** What a run would change in a file as it is now, as a unified diff for people; null where that cannot be told. Never throws. */
  difference?(input: Input, context: PathContext): string | null;
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
