/** Which tests stand near a part of the program. */
export interface Near {
  /** How the paths of its files begin, below src/. The first row that fits counts. */
  readonly under: readonly string[];
  /** Test files below test/ that share one process: they are quick, and need nothing from outside. */
  readonly quick: readonly string[];
  /** Behind them, one process each, the quickest first. */
  readonly slow: readonly string[];
}

const TURN = [
  'kernel/advance',
  'kernel/decide-calls',
  'kernel/take-mail',
  'kernel/waits',
  'core/turn',
  'core/waiting',
  'core/asking',
  'core/submitting',
  'core/transition-table',
];
const CORE = [
  ...TURN,
  'core/agent-name',
  'core/answer-ending',
  'core/duration',
  'core/fan-in',
  'core/left-out',
  'core/parked',
  'core/prompt',
  'core/quarantine',
  'core/repeated-failure',
  'core/run-text',
];
const TOOLSETS = ['runtime/delegate-toolset', 'runtime/sessions-toolset', 'runtime/fanout-toolset'];

export const NEAR: readonly Near[] = [
  {
    under: ['kernel/ledger/'],
    quick: ['kernel/admit', 'kernel/leases'],
    slow: ['core/laws-ledger', 'store/store-sqlite', 'store/remove-old'],
  },
  {
    under: ['kernel/turn/'],
    quick: TURN,
    slow: ['core/transition-laws', 'sim/pure-advance', ...TOOLSETS],
  },
  {
    under: ['core/'],
    quick: CORE,
    slow: ['core/completion', 'core/transition-laws', 'store/store-sqlite', ...TOOLSETS],
  },
  {
    under: ['store/sqlite/'],
    quick: [],
    slow: [
      'core/laws-ledger',
      'store/sqlite-files',
      'store/store-sqlite',
      'store/plans-sqlite',
      'store/migration',
    ],
  },
  {
    under: ['store/postgres/postgres-address', 'store/database-address'],
    quick: ['store/postgres-address', 'store/database-address'],
    slow: [],
  },
  {
    under: ['store/postgres/functions', 'store/postgres/postgres-facts', 'store/postgres/encode'],
    quick: [],
    slow: [
      'store/store-postgres',
      'store/postgres-undone',
      'store/postgres-overlap',
      'store/plans-postgres',
      'store/migration',
    ],
  },
  {
    under: [
      'store/postgres/connection-pool',
      'store/postgres/end-client',
      'store/postgres/listener',
      'store/postgres/postgres-',
      'store/postgres/numbers',
    ],
    quick: [],
    slow: [
      'store/postgres-undone',
      'store/pgbouncer',
      'store/store-postgres',
      'store/postgres-lost-answers',
      'store/postgres-outages',
    ],
  },
  {
    under: ['store/postgres/'],
    quick: [],
    slow: ['store/migration', 'store/store-postgres'],
  },
  {
    under: ['store/'],
    quick: ['store/together', 'store/database-address'],
    slow: [
      'store/lost-claim',
      'core/laws-ledger',
      'store/store-sqlite',
      'store/remove-old',
      'store/store-postgres',
    ],
  },
  {
    under: ['cron/'],
    quick: ['cron/parse-at', 'cron/parse-schedule', 'cron/describe-schedule', 'cron/instants'],
    slow: ['cron/cron-tool', 'cron/cron-runs', 'cron/instants-laws', 'cron/scheduler', 'cron/oracle-changes'],
  },
  {
    under: ['toolsets/json-schema/', 'toolsets/output-schema'],
    quick: [],
    slow: ['toolsets/output-schema'],
  },
  {
    under: ['toolsets/'],
    quick: ['toolsets/fanout', 'toolsets/sessions', 'toolsets/slash-command'],
    slow: [...TOOLSETS, 'runtime/process-toolset', 'runtime/slash-toolset'],
  },
  {
    under: ['tools/shell/', 'tools/command-match', 'tools/glob-match'],
    quick: [],
    slow: ['tools/permission-policy', 'tools/shell/see-through', 'runtime/path-rules'],
  },
  {
    under: ['tools/permission'],
    quick: [],
    slow: [
      'tools/permission-policy',
      'runtime/profile-rules',
      'runtime/path-rules',
      'tools/path-containment',
      'tools/shell/see-through',
    ],
  },
  {
    under: ['tools/path-', 'tools/protected-path', 'tools/touched-paths'],
    quick: [],
    slow: [
      'tools/path-containment',
      'runtime/path-rules',
      'runtime/protected-places',
      'tools/file-tools',
      'tools/search',
      'runtime/private-output',
      'tools/shell/see-through',
    ],
  },
  {
    under: ['runtime/agent-policy', 'runtime/protected-places', 'runtime/call-touches'],
    quick: [],
    slow: [
      'runtime/protected-places',
      'runtime/path-rules',
      'runtime/profile-rules',
      'tools/shell/see-through',
    ],
  },
  {
    under: ['runtime/task-queue'],
    quick: [],
    slow: ['runtime/task-queue'],
  },
  {
    under: ['runtime/git-'],
    quick: [],
    slow: ['runtime/git-worktree', 'runtime/git-worktree-settings'],
  },
  {
    under: ['runtime/'],
    quick: [],
    slow: [
      'runtime/inbox',
      'runtime/tool-calls',
      'runtime/model-host',
      'runtime/recovery',
      'runtime/shared-orders',
      'runtime/sessions-toolset',
      'runtime/approvals',
      'runtime/lease-keeper',
      'runtime/creation-paths',
      'runtime/human-orders',
    ],
  },
];

export function nearTests(file: string): Near | null {
  const place = file.replace(/^src\//, '');
  return NEAR.find(({ under }) => under.some((start) => place.startsWith(start))) ?? null;
}
