import { visibleLine } from './agent-name.ts';

/**
 * What an agent really did since it was last asked: counted by the runtime as results come in, never told by the model. Calls with which it works with
 * other agents do not count, nor do those of its ancestors. Bounded: it is part of the state that every step writes.
 */
export interface Deeds {
  /** By tool; names beyond `TOOLS_MAX` count as `other`. */
  readonly calls?: Readonly<Record<string, ToolCount>>;
  /** Paths that tools for files wrote, and that git names for a worktree; others are only counted. */
  readonly files?: readonly string[];
  readonly more_files?: number;
  /** The newest shell commands, and how many there were before. */
  readonly commands?: readonly CommandRun[];
  readonly more_commands?: number;
  /** Input and output. */
  readonly tokens?: number;
  /** Agents that it created, and those of them that still owed an answer when its turn ended. */
  readonly children?: number;
  readonly unanswered?: number;
  /** Places in `AgentConfig.require` of the evidence that there is, none of it older than its last change of a file. */
  readonly proved?: readonly number[];
  /** Set when the turn has ended, milliseconds. */
  readonly took_ms?: number;
}

export interface ToolCount {
  readonly made: number;
  readonly failed: number;
}

export interface CommandRun {
  readonly command: string;
  /** Null: it did not come to an end of its own. */
  readonly exit: number | null;
}

/** What one call did, as its tool and the permission rules know. */
export interface Deed {
  readonly command?: string;
  readonly exit?: number;
  /** The file that it wrote. */
  readonly wrote?: string;
  /** It may have changed files: evidence from before proves nothing. */
  readonly spoils?: boolean;
  /** Places in `AgentConfig.require` that it is about, and whether it is what they require. */
  readonly evidence?: readonly { readonly place: number; readonly met: boolean }[];
}

const TOOLS_MAX = 16;
const FILES_MAX = 8;
const COMMANDS_MAX = 6;
const COMMAND_LENGTH = 100;
const PATH_LENGTH = 300;

/** The call of a tool came to an end; `deed`: absent if nothing is known of it. */
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

/** The beginning of a path or a command, on one line. */
function shortened(text: string, length: number): string {
  return visibleLine(text.slice(0, 4 * length))
    .slice(0, length)
    .toWellFormed();
}
