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
  'kernel/turn/advance',
  'kernel/turn/decide-calls',
  'kernel/turn/take-mail',
  'kernel/turn/waits',
  'kernel/transition/turn',
  'kernel/transition/waiting',
  'kernel/transition/asking',
  'kernel/transition/submitting',
  'kernel/transition/transition-table',
];
const CORE = [
  ...TURN,
  'records/agent-name',
  'records/answer-ending',
  'records/duration',
  'kernel/transition/fan-in',
  'kernel/transition/left-out',
  'kernel/transition/parked',
  'records/prompt',
  'kernel/transition/quarantine',
  'kernel/transition/repeated-failure',
  'records/run-text',
];
const TOOLSETS = [
  'runtime/toolsets/delegate-toolset',
  'runtime/toolsets/sessions-toolset',
  'runtime/toolsets/fanout-toolset',
];

export const NEAR: readonly Near[] = [
  {
    under: ['kernel/ledger/'],
    quick: ['kernel/ledger/admit', 'kernel/ledger/leases'],
    slow: ['kernel/ledger/laws-ledger', 'store/store-sqlite', 'store/remove-old'],
  },
  {
    under: ['kernel/turn/'],
    quick: TURN,
    slow: ['kernel/transition/transition-laws', 'sim/pure-advance', ...TOOLSETS],
  },
  {
    under: ['records/', 'kernel/transition/', 'kernel/mailbox/'],
    quick: CORE,
    slow: ['records/completion', 'kernel/transition/transition-laws', 'store/store-sqlite', ...TOOLSETS],
  },
  {
    under: ['store/sqlite/ledger-glance'],
    quick: ['store/ledger-glance'],
    slow: [],
  },
  {
    under: ['store/sqlite/'],
    quick: [],
    slow: [
      'store/sqlite-database',
      'kernel/ledger/laws-ledger',
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
    quick: ['store/postgres-error'],
    slow: [
      'store/postgres-pool',
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
    slow: ['store/postgres-pool', 'store/migration', 'store/store-postgres'],
  },
  {
    under: ['store/'],
    quick: ['store/together', 'store/database-address'],
    slow: [
      'store/lost-claim',
      'kernel/ledger/laws-ledger',
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
    under: ['kernel/toolsets/json-schema/', 'kernel/toolsets/output-schema'],
    quick: [],
    slow: ['kernel/toolsets/output-schema'],
  },
  {
    under: ['kernel/toolsets/'],
    quick: ['kernel/toolsets/fanout', 'kernel/toolsets/sessions', 'kernel/toolsets/slash-command'],
    slow: [...TOOLSETS, 'runtime/toolsets/process-toolset', 'runtime/toolsets/slash-toolset'],
  },
  {
    under: ['permissions/shell/', 'permissions/command-match', 'permissions/glob-match'],
    quick: [],
    slow: [
      'permissions/permission-policy',
      'permissions/shell/see-through',
      'runtime/permissions/path-rules',
    ],
  },
  {
    under: ['permissions/permission-'],
    quick: [],
    slow: [
      'permissions/permission-policy',
      'runtime/permissions/profile-rules',
      'runtime/permissions/path-rules',
      'permissions/path-containment',
      'permissions/shell/see-through',
    ],
  },
  {
    under: [
      'permissions/path-',
      'permissions/protected-path',
      'permissions/touched-paths',
      'permissions/printable-path',
    ],
    quick: [],
    slow: [
      'permissions/path-containment',
      'runtime/permissions/path-rules',
      'runtime/permissions/protected-places',
      'tools/file-tools',
      'tools/search',
      'runtime/permissions/private-output',
      'permissions/shell/see-through',
    ],
  },
  {
    under: ['permissions/', 'runtime/performing/protected-places'],
    quick: [],
    slow: [
      'runtime/permissions/protected-places',
      'runtime/permissions/path-rules',
      'runtime/permissions/profile-rules',
      'permissions/shell/see-through',
    ],
  },
  {
    under: ['runtime/executor/task-queue'],
    quick: [],
    slow: ['runtime/task-queue'],
  },
  {
    under: ['runtime/worktree/'],
    quick: [],
    slow: ['runtime/worktree/git-worktree', 'runtime/worktree/git-worktree-settings'],
  },
  {
    under: ['runtime/'],
    quick: [],
    slow: [
      'runtime/waits/inbox',
      'runtime/tool-calls',
      'runtime/model-host',
      'runtime/leading/recovery',
      'runtime/waits/shared-orders',
      'runtime/toolsets/sessions-toolset',
      'runtime/permissions/approvals',
      'runtime/leading/lease-keeper',
      'runtime/toolsets/creation-paths',
      'runtime/waits/human-orders',
    ],
  },
];

export function nearTests(file: string): Near | null {
  const place = file.replace(/^src\//, '');
  return NEAR.find(({ under }) => under.some((start) => place.startsWith(start))) ?? null;
}
