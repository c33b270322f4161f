/** The house in one table: which floor each folder of src/ stands on, and every allowance with its reason. */

export const CORE = 'core';
/** Files directly in src/: the public library. */
export const LIBRARY = '';
/** What the public library is made of. */
export const LIBRARY_PARTS = 'library';

/** A file imports from its own folder and from floors below its own; folders on one floor do not see each other. */
export const FLOORS: Readonly<Record<string, number>> = {
  core: 0,
  models: 1,
  tools: 1,
  render: 1,
  toolsets: 2,
  kernel: 3,
  store: 4,
  runtime: 5,
  settings: 5,
  cron: 6,
  channels: 6,
  mcp: 6,
  acp: 6,
  server: 6,
  tui: 6,
  library: 6,
  cli: 7,
  [LIBRARY]: 7,
};

/** What folders above the runtime may see of it. */
export const RUNTIME_FACE: readonly string[] = [
  'runtime/open-runtime.ts',
  'runtime/runtime-event.ts',
  'runtime/runtime-face.ts',
];
export const RUNTIME = 'runtime';

/** Doors are programs' ways in; the library is one of its own and opens none of them. */
export const DOOR_FLOOR = 6;

/** Imports between siblings that are allowed. */
export const SIBLINGS: readonly { readonly from: string; readonly to: string; readonly reason: string }[] = [
  {
    from: 'models',
    to: 'render/nearest-name.ts',
    reason: 'one function finds the name that was meant',
  },
  {
    from: 'tools',
    to: 'render/nearest-name.ts',
    reason: 'one function finds the name that was meant',
  },
  {
    from: 'models',
    to: 'tools/tool-spec.ts',
    reason: 'a model is told of tools in the shape in which tools describe themselves',
  },
  {
    from: 'models',
    to: 'tools/process-group.ts',
    reason: 'the process group of an agent program ends with ours, like that of every command',
  },
  {
    from: 'models',
    to: 'tools/process-mark.ts',
    reason: 'an agent program is found by the same mark as every command',
  },
  {
    from: 'models',
    to: 'tools/stray-processes.ts',
    reason: 'what an agent program left behind is found like that of every command',
  },
  {
    from: 'models',
    to: 'tools/child-environment.ts',
    reason: 'one list says what any child process may see',
  },
  {
    from: 'models',
    to: 'tools/process-slots.ts',
    reason: 'prompts of an agent program queue like commands do',
  },
];

/** Floors that decide and do nothing: they import no built-in module and touch none of these. */
export const PURE: ReadonlySet<string> = new Set(['core', 'toolsets', 'kernel']);
export const IMPURE: readonly { readonly phrase: RegExp; readonly what: string }[] = [
  { phrase: /^Date \. now\b|^new Date \( \)|^performance \./, what: 'reads a clock' },
  { phrase: /^Math \. random\b|^crypto \./, what: 'makes randomness or ids' },
  { phrase: /^(?:process|console|globalThis) \./, what: 'touches the process' },
  { phrase: /^(?:fetch|require) \(/, what: 'does I/O' },
  { phrase: /^(?:setTimeout|setInterval|setImmediate|queueMicrotask) \(/, what: 'sets a timer' },
  { phrase: /^(?:async|await) /, what: 'awaits' },
];

export const MAX_LINES = 300;
/** Files of src/ that may be longer. */
export const LONGER: Readonly<Record<string, { readonly lines: number; readonly reason: string }>> = {
  'runtime/executor.ts': {
    lines: 400,
    reason: 'the one round of fold, commit and perform; its halves share every cell',
  },
};

/** Names that say nothing of what is inside. */
export const EMPTY_NAMES = /^(?:index|utils?|helpers?|misc|types|managers?|common)$/;

/** The table as people read it: floors from the top down, then the allowances. */
export function describeFloors(): string {
  const numbers = [...new Set(Object.values(FLOORS))].sort((a, b) => b - a);
  const rows = numbers.map((floor) => {
    const folders = Object.keys(FLOORS).filter((folder) => FLOORS[folder] === floor);
    return `  ${floor}  ${folders.map((folder) => folder || 'src/*.ts (the library)').join(', ')}`;
  });
  const siblings = SIBLINGS.map(({ from, to, reason }) => `  ${from} may import ${to}: ${reason}`);
  const longer = Object.entries(LONGER).map(
    ([file, { lines, reason }]) => `  ${file} may have ${lines} lines: ${reason}`,
  );
  return ['floors:', ...rows, 'allowed:', ...siblings, ...longer].join('\n');
}
