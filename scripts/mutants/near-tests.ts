/** The tests near a part of the program. */
export interface Near {
  /** Prefixes of its paths below src/. The first matching row counts. */
  readonly under: readonly string[];
  /** Test files below test/ that share one process: quick, without servers or processes. */
  readonly quick: readonly string[];
  /** Run after those, one process each, fastest first. */
  readonly slow: readonly string[];
  /** Skips what they repeat on PostgreSQL, which tests the database, not this part. */
  readonly one_database?: boolean;
}

const TURN = [
  'kernel/turn/advance',
  'kernel/turn/decide-calls',
  'kernel/turn/take-mail',
  'kernel/turn/waits',
  'kernel/transition/turn',
  'kernel/transition/human-wait',
  'kernel/transition/asking',
  'kernel/transition/submitting',
  'kernel/transition/transition-table',
];
const CORE = [
  ...TURN,
  'records/agent-name',
  'records/answer-ending',
  'records/coppice-error',
  'records/duration',
  'records/json-text',
  'kernel/transition/fan-in',
  'kernel/transition/left-out',
  'kernel/transition/parked',
  'records/prompt',
  'kernel/transition/quarantine',
  'kernel/transition/repeated-failure',
  'records/run-text',
  'runtime/orders/start-options',
];
const TOOLSETS = [
  'runtime/toolsets/delegate-toolset',
  'runtime/toolsets/sessions-toolset',
  'runtime/toolsets/fanout-toolset',
];

export const NEAR: readonly Near[] = [
  {
    under: ['kernel/ledger/'],
    quick: ['kernel/ledger/admit', 'kernel/ledger/leases', 'kernel/ledger/removal'],
    slow: ['kernel/ledger/laws-ledger', 'store/store-sqlite', 'store/remove-old'],
    one_database: true,
  },
  {
    under: ['kernel/turn/'],
    quick: TURN,
    slow: ['kernel/transition/transition-laws', 'sim/pure-advance.long', ...TOOLSETS],
    one_database: true,
  },
  {
    under: ['records/', 'kernel/transition/', 'kernel/mailbox/'],
    quick: CORE,
    slow: [
      'records/completion',
      'tools/fit-image',
      'kernel/transition/transition-laws',
      'store/store-sqlite',
      ...TOOLSETS,
      'cli/agents/fanout',
    ],
  },
  {
    under: ['store/sqlite/read-only-ledger'],
    quick: ['store/read-only-ledger'],
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
      'store/plans-sqlite.long',
      'store/migration',
      'store/partial-indexes',
    ],
  },
  {
    under: ['store/postgres/postgres-address', 'store/database-address'],
    quick: ['store/postgres-address', 'store/database-address'],
    slow: [],
  },
  {
    under: ['store/postgres/postgres-error'],
    quick: ['store/postgres-error'],
    slow: [],
  },
  {
    under: ['store/postgres/functions', 'store/postgres/postgres-facts', 'store/postgres/postgres-database'],
    quick: [],
    slow: [
      'store/store-postgres',
      'store/postgres-undone',
      'store/postgres-overlap',
      'store/migration',
      'store/postgres-pool',
    ],
  },
  {
    under: ['store/postgres/connection-pool', 'store/postgres/listener', 'store/postgres/postgres-'],
    quick: [],
    slow: [
      'store/postgres-pool',
      'store/postgres-undone',
      'store/pgbouncer',
      'store/store-postgres',
      'store/postgres-lost-answers',
      'store/postgres-outages.long',
    ],
  },
  {
    under: ['store/postgres/'],
    quick: [],
    slow: ['store/postgres-pool', 'store/migration', 'store/partial-indexes', 'store/store-postgres'],
  },
  {
    under: ['store/'],
    quick: ['store/batcher', 'store/database-address'],
    slow: [
      'store/lost-claim',
      'store/queued-runs',
      'kernel/ledger/laws-ledger',
      'store/store-sqlite',
      'store/remove-old',
      'store/store-postgres',
    ],
  },
  {
    under: ['processes/'],
    quick: [
      'processes/output/newest-output',
      'processes/fair-slots',
      'processes/waiting',
      'processes/output/spill-file',
      'processes/output/output-capture',
      'processes/child-environment',
      'processes/process-mark',
    ],
    slow: [
      'processes/find-shell',
      'processes/starting/run-process',
      'runtime/permissions/private-output',
      'processes/process-group',
      'tools/bash',
      'cli/gc',
    ],
    one_database: true,
  },
  {
    under: ['cron/'],
    quick: ['cron/parse-at', 'cron/parse-schedule', 'cron/describe-schedule', 'cron/next-instant'],
    slow: [
      'cron/cron-tool',
      'cron/cron-jobs',
      'cron/scheduler-loop',
      'cron/cron-runs',
      'cron/instants-laws',
      'cron/scheduler',
      'cron/oracle-changes',
    ],
    one_database: true,
  },
  {
    under: ['kernel/toolsets/json-schema/', 'kernel/toolsets/output-schema'],
    quick: [],
    slow: ['kernel/toolsets/output-schema'],
  },
  {
    under: ['kernel/toolsets/fanout'],
    quick: ['kernel/toolsets/fanout', 'kernel/toolsets/creations'],
    slow: [
      'runtime/toolsets/fanout-toolset',
      'runtime/toolsets/fanout-submit',
      'runtime/toolsets/fanout-options',
    ],
    one_database: true,
  },
  {
    under: ['kernel/toolsets/delegate'],
    quick: ['kernel/toolsets/creations'],
    slow: [
      'runtime/toolsets/delegate-toolset',
      'runtime/toolsets/delegate-program',
      'runtime/toolsets/delegate-waits',
    ],
    one_database: true,
  },
  {
    under: ['kernel/toolsets/sessions', 'kernel/toolsets/acts/task-options'],
    quick: ['kernel/toolsets/sessions', 'kernel/toolsets/creations'],
    slow: [
      'runtime/toolsets/sessions-toolset',
      'runtime/toolsets/fanout-options',
      'runtime/toolsets/delegate-toolset',
    ],
    one_database: true,
  },
  {
    under: [
      'kernel/toolsets/slash',
      'kernel/toolsets/process',
      'kernel/toolsets/acts/kill-',
      'kernel/toolsets/acts/send-',
    ],
    quick: ['kernel/toolsets/slash-command'],
    slow: [
      'runtime/toolsets/slash-toolset',
      'runtime/toolsets/process-toolset',
      'runtime/toolsets/slash-mail',
      'runtime/toolsets/slash-bounds',
    ],
    one_database: true,
  },
  {
    under: ['kernel/toolsets/'],
    quick: [
      'kernel/toolsets/fanout',
      'kernel/toolsets/sessions',
      'kernel/toolsets/slash-command',
      'kernel/toolsets/creations',
    ],
    slow: [
      'runtime/permissions/profile-rules',
      ...TOOLSETS,
      'runtime/toolsets/process-toolset',
      'runtime/toolsets/slash-toolset',
    ],
    one_database: true,
  },
  {
    under: ['permissions/shell/', 'permissions/command-match', 'permissions/glob-match'],
    quick: ['permissions/shell/seen-commands', 'permissions/shell/shell-word'],
    slow: ['permissions/policy', 'permissions/shell/analyse-command', 'runtime/permissions/path-rules'],
    one_database: true,
  },
  {
    under: ['permissions/decide', 'permissions/policy', 'permissions/rule', 'permissions/tool-permission'],
    quick: [],
    slow: [
      'permissions/policy',
      'runtime/permissions/profile-rules',
      'runtime/permissions/path-rules',
      'permissions/path-containment',
      'permissions/shell/analyse-command',
    ],
    one_database: true,
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
      'permissions/shell/analyse-command',
    ],
    one_database: true,
  },
  {
    under: ['permissions/', 'runtime/performing/protected-places'],
    quick: [],
    slow: [
      'runtime/permissions/protected-places',
      'runtime/permissions/path-rules',
      'runtime/permissions/profile-rules',
      'permissions/shell/analyse-command',
    ],
    one_database: true,
  },
  {
    under: ['tools/bash'],
    quick: [],
    slow: ['tools/bash'],
  },
  {
    under: ['tools/built-in-permissions'],
    quick: [],
    slow: ['permissions/policy', 'runtime/permissions/path-rules', 'runtime/permissions/profile-rules'],
    one_database: true,
  },
  {
    under: ['tools/'],
    quick: ['tools/define-tool', 'tools/hostile-edits'],
    slow: [
      'tools/search',
      'tools/fit-image',
      'tools/file-tools',
      'runtime/permissions/path-rules',
      'runtime/permissions/protected-places',
    ],
    one_database: true,
  },
  {
    under: ['runtime/worktree/'],
    quick: [],
    slow: [
      'runtime/worktree/git-worktree.long',
      'runtime/worktree/git-worktree-settings',
      'runtime/toolsets/fanout-worktree.long',
    ],
  },
  {
    under: ['runtime/executor/run-queue'],
    quick: ['runtime/executor/run-queue'],
    slow: ['runtime/toolsets/sessions-queue'],
    one_database: true,
  },
  {
    under: [
      'runtime/executor/agent-index',
      'runtime/executor/ledger-retry',
      'runtime/leading/ledger-time',
      'runtime/performing/model-cache',
    ],
    quick: [
      'runtime/executor/agent-index',
      'runtime/executor/ledger-retry',
      'runtime/leading/ledger-time',
      'runtime/performing/model-cache',
    ],
    slow: ['runtime/toolsets/sessions-toolset', 'runtime/leading/ledger-breaks'],
    one_database: true,
  },
  {
    under: ['runtime/performing/agent-program-host'],
    quick: [],
    slow: ['runtime/performing/agent-program-host', 'runtime/permissions/protected-places'],
  },
  {
    under: ['runtime/orders/'],
    quick: ['runtime/orders/start-options'],
    slow: [
      'runtime/waits/shared-orders',
      'runtime/waits/human-orders',
      'runtime/waits/human-wait',
      'runtime/leading/shared-tree',
      'runtime/permissions/approvals',
      'runtime/toolsets/fanout-options',
      'runtime/toolsets/fanout-worktree.long',
    ],
    one_database: true,
  },
  {
    under: ['runtime/leading/'],
    quick: [
      'runtime/leading/lease-keeper',
      'runtime/leading/read-ahead',
      'runtime/leading/quiescence',
      'runtime/leading/unattended-trees',
      'runtime/leading/unfinished-check',
      'runtime/cost-limit',
      'runtime/switch-model',
    ],
    slow: [
      'runtime/maximum-time',
      'runtime/leading/lost-lease',
      'runtime/waits/left-out',
      'runtime/leading/recovery',
      'serve/parked-trees',
      'serve/tree-keeper',
      'runtime/leading/shared-tree',
      'runtime/leading/ledger-breaks',
      'runtime/leading/contained-faults',
      'runtime/waits/shared-orders',
    ],
    one_database: true,
  },
  {
    under: ['runtime/'],
    quick: [
      'runtime/tool-calls',
      'runtime/waits/inbox',
      'runtime/leading/lease-keeper',
      'runtime/leading/read-ahead',
      'runtime/cost-limit',
      'runtime/switch-model',
      'runtime/toolsets/answer-endings',
      'runtime/toolsets/fanout-submit',
      'runtime/toolsets/delegate-waits',
      'runtime/toolsets/delegate-toolset',
      'runtime/toolsets/fanout-toolset',
      'runtime/leading/shared-tree',
      'cron/cron-tool',
    ],
    slow: [
      'runtime/toolsets/delegate-program',
      'runtime/permissions/approvals',
      'runtime/permissions/private-output',
      'runtime/killed-calls',
      'runtime/waits/kill-news',
      'runtime/waits/resting-places',
      'runtime/waits/shared-orders',
      'runtime/toolsets/child-ends',
      'runtime/waits/human-orders',
      'runtime/waits/left-out',
      'runtime/permissions/approvals-cut-short',
      'runtime/maximum-time',
      'runtime/leading/recovery',
      'runtime/leading/ledger-breaks',
      'runtime/toolsets/sessions-toolset',
      'runtime/leading/contained-faults',
      'runtime/toolsets/sessions-queue',
      'cron/cron-runs',
    ],
    one_database: true,
  },
];

export function nearTests(file: string): Near | null {
  const place = file.replace(/^src\//, '');
  return NEAR.find(({ under }) => under.some((start) => place.startsWith(start))) ?? null;
}
