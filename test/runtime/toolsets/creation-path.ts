import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { Origin } from '../../../src/records/agent/agent.ts';
import type { Line, Scene, StageOptions } from '../stage.ts';

type OneCall = readonly [string, unknown];

/** One way for a model to create an agent: the call, and its properties. */
export interface CreationPath {
  readonly name: string;
  readonly toolsets: readonly string[];
  readonly origin: Origin;
  /** A call that creates one agent; `index` makes calls distinct. */
  readonly call: (index: number) => OneCall;
  /** A call that creates one agent with a profile; null if the tool takes none. */
  readonly profiled: ((profile: string) => OneCall) | null;
  /** Forks an agent called `mid` in the vocabulary of this row. */
  readonly mid: (profile?: string) => OneCall;
  /** Whether the creator continues only when the child has ended. */
  readonly blocks: boolean;
  /** What a child answers to end its work. */
  readonly end: Line;
}

const PROCESS = ['process', 'fanout', 'sessions', 'delegate'];
const SLASH = ['slash', 'fanout', 'sessions', 'delegate'];

const byFork = (profile?: string): OneCall => [
  'fork',
  { name: 'mid', prompt: 'be mid', ...(profile === undefined ? {} : { profile }) },
];
const bySlash = (profile?: string): OneCall => [
  'slash',
  { command: `fork ${profile === undefined ? '' : `--profile ${profile} `}mid` },
];

const task = (index: number) => ({ task: `task ${index}` });
const delegated = (index: number) => ({ ...task(index), description: `part ${index}` });

/** Every tool that creates agents, in all five vocabularies. */
export const CREATION_PATHS: readonly CreationPath[] = [
  {
    name: 'process: fork',
    toolsets: PROCESS,
    origin: 'fork',
    call: (index) => ['fork', { name: `c${index}`, prompt: `be c${index}` }],
    profiled: (profile) => ['fork', { name: 'c', prompt: 'be c', profile }],
    mid: byFork,
    blocks: false,
    end: 'done',
  },
  {
    name: 'slash: fork without a prompt',
    toolsets: SLASH,
    origin: 'fork',
    call: () => ['slash', { command: 'fork' }],
    profiled: (profile) => ['slash', { command: `fork --profile ${profile}` }],
    mid: bySlash,
    blocks: false,
    end: 'done',
  },
  {
    name: 'slash: fork with a prompt',
    toolsets: SLASH,
    origin: 'fork',
    call: (index) => ['slash', { command: `fork "task ${index}"` }],
    profiled: (profile) => ['slash', { command: `fork --profile ${profile} "a task"` }],
    mid: bySlash,
    blocks: false,
    end: 'done',
  },
  {
    name: 'fanout: spawn_agents',
    toolsets: PROCESS,
    origin: 'spawn',
    call: (index) => ['spawn_agents', { tasks: [task(index)] }],
    profiled: (profile) => ['spawn_agents', { tasks: [{ task: 'a task', profile }] }],
    mid: byFork,
    blocks: true,
    end: [['submit_result', { result: 'done' }]],
  },
  {
    name: 'sessions: sessions_spawn',
    toolsets: PROCESS,
    origin: 'session',
    call: (index) => ['sessions_spawn', task(index)],
    profiled: (profile) => ['sessions_spawn', { task: 'a task', profile }],
    mid: byFork,
    blocks: false,
    end: 'done',
  },
  {
    name: 'delegate: subagent_spawn',
    toolsets: PROCESS,
    origin: 'delegate',
    call: (index) => ['subagent_spawn', delegated(index)],
    profiled: (profile) => ['subagent_spawn', { ...delegated(0), profile }],
    mid: byFork,
    blocks: true,
    end: 'done',
  },
  {
    name: 'delegate: subagent_delegate',
    toolsets: PROCESS,
    origin: 'delegate',
    call: (index) => ['subagent_delegate', delegated(index)],
    profiled: null,
    mid: byFork,
    blocks: true,
    end: 'done',
  },
];

/** Options for playing any row of the table: its toolsets, and one ACP server by name. */
export function stageOf(path: CreationPath, database: string | undefined): StageOptions {
  return {
    toolsets: path.toolsets,
    terms: { delegation: { ...DEFAULT_TERMS.delegation, servers: ['helper'] } },
    database,
  };
}

/** A play in which `main` and `mid` follow their lines and then end; every other agent waits for `gate` and gives the answer of its row. */
export function playOf(
  path: CreationPath,
  lines: { readonly main: readonly Line[]; readonly mid?: readonly Line[] },
  gate: Promise<void> = Promise.resolve(),
): (scene: Scene) => Promise<Line> {
  return async (scene) => {
    if (scene.name === 'main') return lines.main[scene.step] ?? 'done';
    if (scene.name === 'mid') return lines.mid?.[scene.step] ?? 'done';
    await gate;
    return path.end;
  };
}
