/** Table of the floors: the floor of each folder of src/, and every allowance with its reason. */

export const RECORDS = 'records';
/** Files directly in src/: the public library. */
export const LIBRARY = '';
/** Folder with the parts of the public library. */
export const LIBRARY_PARTS = 'library';

/** A file imports from its own folder and from floors below its own; folders on one floor do not import each other. */
export const FLOORS: Readonly<Record<string, number>> = {
  records: 0,
  render: 1,
  processes: 1,
  permissions: 2,
  models: 3,
  tools: 3,
  kernel: 4,
  store: 5,
  runtime: 6,
  settings: 6,
  documents: 6,
  trees: 7,
  cron: 8,
  channels: 8,
  mcp: 8,
  acp: 8,
  tui: 8,
  library: 8,
  serve: 9,
  cli: 10,
  [LIBRARY]: 10,
};

/** Files of the runtime that folders above it may import. */
export const RUNTIME_FACE: readonly string[] = [
  'runtime/open-runtime.ts',
  'runtime/orders/ledger-orders.ts',
  'runtime/runtime-clock.ts',
  'runtime/runtime-event.ts',
  'runtime/runtime-face.ts',
  'runtime/worktree/branch-merge.ts',
  'runtime/worktree/merge-and-test.ts',
  'runtime/worktree/old-worktrees.ts',
  'runtime/worktree/past-worktree.ts',
];
export const RUNTIME = 'runtime';

/** Floor of the doors. The library imports none of them except its own parts. */
export const DOOR_FLOOR = 8;

/**
 * All that an entry point may reach, directly and indirectly, type imports and late imports included: beginnings of places below src/, and packages.
 * `coppice/core` holds no built-in tool, no protocol and no door (docs/core.md).
 */
export const CLOSURES: Readonly<
  Record<string, { readonly places: readonly string[]; readonly packages: readonly string[] }>
> = {
  'core.ts': {
    places: [
      ...['kernel/', 'permissions/', 'records/', 'render/', 'runtime/', 'library/engine.ts'],
      ...['store/approvals/', 'store/ledger/', 'store/schema/', 'store/sqlite/'],
      ...[
        'cron-ledger',
        'database-address',
        'load-ledger',
        'outbox-ledger',
        'process-gone',
        'prompt-messages',
        'remove-old',
      ].map((name) => `store/${name}.ts`),
      ...['store/read-records.ts', 'store/retention-ledger.ts', 'store/store-error.ts', 'store/store.ts'],
      // The contract of models, and the model that stands in for an MCP client, which makes no request.
      ...['models/model.ts', 'models/model-host.ts', 'models/refusals/spent.ts', 'models/client-model.ts'],
      'models/workflow-host.ts',
      // What an earlier run of a workflow has, read from its conversation.
      ...['models/workflow/recorded-run.ts', 'models/workflow/script-step.ts'],
      // How a tool is made, and how rules judge the built-in tools by name.
      ...['tools/define-tool.ts', 'tools/built-in-permissions.ts', 'tools/evidence.ts'],
      // Git, for worktrees.
      ...['processes/git-command.ts', 'processes/child-environment.ts', 'processes/fair-slots.ts'],
      ...['processes/process-', 'processes/stray-processes.ts', 'processes/starting/', 'processes/limits/'],
      ...['processes/sandbox/confined-program.ts', 'processes/sandbox/sandbox-report.ts'],
      // What no tool may write.
      ...['processes/sandbox/self-running.ts', 'processes/sandbox/known-places.ts'],
      'processes/sandbox/governing.ts',
      ...['processes/find-shell.ts', 'processes/output/spill-folder.ts', 'processes/waiting.ts'],
      'processes/working-folder.ts',
      ...['settings/folders.ts', 'settings/cache-folder.cjs', 'settings/node-version.cjs'],
      'settings/check-settings.ts',
    ],
    packages: ['fastest-levenshtein', 're2js', 'unbash', 'zod'],
  },
};

/** Floors without effects: they import no built-in module but `LOADER`, and use none of `IMPURE`. */
export const PURE: ReadonlySet<string> = new Set([RECORDS, 'kernel']);
/** Loads a package at its first use, which changes no result. */
export const LOADER = 'node:module';
export const IMPURE: readonly { readonly phrase: RegExp; readonly what: string }[] = [
  { phrase: /^Date \. now\b|^new Date \( \)|^performance \./, what: 'reads a clock' },
  { phrase: /^Math \. random\b|^crypto \./, what: 'makes randomness or ids' },
  { phrase: /^(?:process|console|globalThis) \./, what: 'touches the process' },
  { phrase: /^(?:fetch|require) \(/, what: 'does I/O' },
  { phrase: /^(?:setTimeout|setInterval|setImmediate|queueMicrotask) \(/, what: 'sets a timer' },
  { phrase: /^(?:async|await) /, what: 'awaits' },
];

/** A hint: a file reads best with 60 to 250 lines, and one over this has found a second noun. */
export const MAX_LINES = 450;

export const MAX_NAMES = 16;
/** Folders of src/ that may hold more than `MAX_NAMES` files and folders. */
export const CROWDED: Readonly<Record<string, { readonly names: number; readonly reason: string }>> = {
  cli: { names: 21, reason: 'a folder for each command' },
  '': { names: 23, reason: 'the rooms of the house' },
};

/** Names that say nothing about the contents. */
export const EMPTY_NAMES = /^(?:index|utils?|helpers?|misc|types|managers?|common)$/;

/** The table as text: floors from the top down, then the allowances. */
export function describeFloors(): string {
  const numbers = [...new Set(Object.values(FLOORS))].sort((a, b) => b - a);
  const rows = numbers.map((floor) => {
    const folders = Object.keys(FLOORS).filter((folder) => FLOORS[folder] === floor);
    return `  ${floor}  ${folders.map((folder) => folder || 'src/*.ts (the library)').join(', ')}`;
  });
  const crowded = Object.entries(CROWDED).map(
    ([folder, { names, reason }]) => `  ${folder || 'src'} may hold ${names} names: ${reason}`,
  );
  const closures = Object.entries(CLOSURES).map(
    ([entry, { places, packages }]) =>
      `  ${entry} reaches only ${places.join(', ')}; packages: ${packages.join(', ')}`,
  );
  return ['floors:', ...rows, 'allowed:', ...crowded, 'closures:', ...closures].join('\n');
}
