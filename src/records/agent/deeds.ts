import { visibleLine } from './agent-name.ts';

/**
 * What an agent actually did since its last input, counted by the runtime from results, never reported by the model. Excludes calls of toolsets and
 * everything that its ancestors did. Bounded in size, because it is part of the state that every step writes.
 */
export interface Deeds {
  /** Counts by tool; tools beyond `TOOLS_MAX` are counted as `other`. */
  readonly calls?: Readonly<Record<string, ToolCount>>;
  /** Paths that file tools wrote, and paths that git reports as changed; those beyond `FILES_MAX` are only counted. */
  readonly files?: readonly string[];
  readonly more_files?: number;
  /** The newest shell commands, and the number of older ones. */
  readonly commands?: readonly CommandRun[];
  readonly more_commands?: number;
  /** Input plus output tokens. */
  readonly tokens?: number;
  /** Number of agents that it created, and of those that had not answered when its turn ended. */
  readonly children?: number;
  readonly unanswered?: number;
  /** Calls that were denied since a person last wrote to it; kept in turns that mail begins. */
  readonly denied?: readonly Denied[];
  /** Those of all agents below a root, when its turn ended. */
  readonly denied_below?: readonly Denied[];
  /** Indices in `AgentConfig.require` of the evidence provided; evidence older than the last file change is dropped. */
  readonly proved?: readonly number[];
  /** Duration of the turn in milliseconds; set when it has ended. */
  readonly took_ms?: number;
}

export interface ToolCount {
  readonly made: number;
  readonly failed: number;
}

export interface CommandRun {
  readonly command: string;
  /** Null: no exit code, for example because the command was stopped. */
  readonly exit: number | null;
}

/** Calls of one tool that were denied for the same reason. */
export interface Denied {
  readonly tool: string;
  readonly calls: number;
  /** The rule with which `--allow` would have let them run; if there is none, `why` may say so. */
  readonly allow?: string | undefined;
  readonly why?: string | undefined;
}

/** What one call did, as far as its tool and the permission rules can tell. */
export interface Deed {
  /** Whether there is no such tool, so that nothing was done. */
  readonly is_unknown?: true;
  /** Set if it was denied. */
  readonly denied?: Pick<Denied, 'allow' | 'why'>;
  readonly command?: string;
  readonly exit?: number;
  /** The file that it wrote. */
  readonly wrote?: string;
  /** Whether the call may have changed files, which invalidates earlier evidence. */
  readonly spoils?: boolean;
  /** Indices in `AgentConfig.require` that the call matches, and whether it ended as required. */
  readonly evidence?: readonly { readonly place: number; readonly met: boolean }[];
}

const TOOLS_MAX = 16;
const FILES_MAX = 8;
const COMMANDS_MAX = 6;
const COMMAND_LENGTH = 100;
const PATH_LENGTH = 300;

/** Adds a tool call that has ended. `done`: whether it succeeded; `deed`: absent if no details are known. */
export function withCall(deeds: Deeds, tool: string, done: boolean, deed: Deed = {}): Deeds {
  const { calls = {}, proved } = deeds;
  const key = Object.hasOwn(calls, tool) || Object.keys(calls).length < TOOLS_MAX ? tool : 'other';
  const before = Object.hasOwn(calls, key) ? (calls[key] as ToolCount) : { made: 0, failed: 0 };
  const count = { made: before.made + 1, failed: before.failed + (done ? 0 : 1) };
  const counted = { ...deeds, calls: { ...calls, [key]: count } };
  const { command, exit = null, wrote, spoils, evidence = [] } = deed;
  const written = wrote === undefined || !done ? counted : withFiles(counted, [wrote]);
  const ran =
    command === undefined
      ? written
      : withCommand(written, { command: shortened(command, COMMAND_LENGTH), exit });
  const kept = new Set(spoils === true ? [] : proved);
  for (const { place, met } of evidence) met ? kept.add(place) : kept.delete(place);
  return proved === undefined && kept.size === 0 ? ran : { ...ran, proved: [...kept] };
}

export function withFiles(deeds: Deeds, paths: readonly string[]): Deeds {
  const { files = [], more_files = 0 } = deeds;
  const fresh = paths
    .map((path) => shortened(path, PATH_LENGTH))
    .filter((path, place, all) => !files.includes(path) && all.indexOf(path) === place);
  if (fresh.length === 0) return deeds;
  const room = FILES_MAX - files.length;
  const left = more_files + Math.max(0, fresh.length - room);
  return {
    ...deeds,
    files: [...files, ...fresh.slice(0, room)],
    ...(left === 0 ? {} : { more_files: left }),
  };
}

function withCommand(deeds: Deeds, run: CommandRun): Deeds {
  const { commands = [], more_commands = 0 } = deeds;
  if (commands.length < COMMANDS_MAX) return { ...deeds, commands: [...commands, run] };
  return { ...deeds, commands: [...commands.slice(1), run], more_commands: more_commands + 1 };
}

/** Truncates a path or a command, on one line. */
function shortened(text: string, length: number): string {
  return visibleLine(text.slice(0, 4 * length))
    .slice(0, length)
    .toWellFormed();
}
