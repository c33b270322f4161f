import type { Change } from '../../../src/kernel/ledger/change-set.ts';
import type {
  AgentFacts,
  FactKind,
  FactKinds,
  TreeFacts,
  WorkerFacts,
} from '../../../src/kernel/ledger/facts.ts';
import type { Row, TableName } from '../../../src/kernel/ledger/tables.ts';
import { UnitOfWork } from '../../../src/kernel/ledger/unit-of-work.ts';
import type { Step } from '../../../src/kernel/step.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../src/records/agent/limits.ts';
import { newTurn } from '../../../src/records/agent/state.ts';

export const NOW = 1_000;

/** The facts of an empty ledger. */
const NOTHING: FactKinds = {
  ...{ tree: null, agent: null, mail: null, pending: [], edges: [], reach: [], waiters: [], below: [] },
  ...{
    children: [],
    resting_children: 0,
    resting_in_tree: 0,
    scripted_in_tree: 0,
    run: null,
    queued: [],
    tasks: [],
    ask: null,
    open_asks: [],
    unled: null,
    spoken: [],
  },
  ...{ members: [], state: null, config: null, worker: null, held: [], told: [], job: null, job_named: null },
  ...{ enabled_jobs: 0, job_at_work: false, waiting_fire: null, fire: null },
};

export type Entries = { readonly [Kind in FactKind]?: Readonly<Record<string, FactKinds[Kind]>> };

/** A unit of work on a ledger with these facts. */
export function unitOf(entries: Entries = {}): UnitOfWork {
  return new UnitOfWork({
    now: NOW,
    prefetch: () => undefined,
    get: <Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] => {
      const known: Readonly<Record<string, FactKinds[Kind]>> = entries[kind] ?? {};
      return Object.hasOwn(known, key) ? (known[key] as FactKinds[Kind]) : NOTHING[kind];
    },
  });
}

export function treeOf(over: Partial<TreeFacts> = {}, limits: Partial<Limits> = {}): TreeFacts {
  return {
    ...{ root_id: 'root', limits: JSON.stringify({ ...DEFAULT_LIMITS, ...limits }), live: 1, total: 1 },
    ...{ tokens: 0, cost_usd: 0, cached_tokens: 0, reserved_tokens: 0, reserved_usd: 0 },
    ...{ served: true, removal: null },
    ...over,
  };
}

export function agentOf(id: string, over: Partial<AgentFacts> = {}): AgentFacts {
  return {
    ...{ id, root_id: 'root', parent_id: id === 'root' ? null : 'root', name: id, origin: 'fork', depth: 1 },
    session_key: `agent:main:fork:${id}`,
    ...{ status: 'requesting', last_seq: 3, mail_count: 0, noticed: 0, living_children: 0, worker: 'w1' },
    ...{ epoch: 1, deaths: 0, calls: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
    ...{ reasoning_tokens: 0, cost_usd: null, budget: null, last_write: null },
    ...over,
  };
}

export const LEASED: WorkerFacts = { leased: true, expires_at: NOW + 1 };

/** A step of an agent from `agentOf` that changes only what `over` says. */
export function stepOf(agent_id: string, over: Partial<Step> = {}): Step {
  return {
    ...{
      agent_id,
      epoch: 1,
      base_seq: 3,
      at: 500,
      messages: [],
      create: [],
      send: [],
      consume: [],
      kill: [],
    },
    ...{ state: { type: 'requesting', attempt: 1, turn: newTurn(1) }, waits_for: null, waits_until: {} },
    ...{ requests: [], calls: 0, doing: null, reply: null, sent_this_turn: false, noticed: 0, remove: [] },
    ...{ asks: [], void_asks: [], deliver: [] },
    ...over,
  };
}

/** The unit's changes to a table. */
export function changes(unit: UnitOfWork, table: TableName): readonly Change[] {
  return unit.changes().rows.get(table) ?? [];
}

export function rows(unit: UnitOfWork, table: TableName): readonly Row[] {
  return changes(unit, table).map(({ row }) => row);
}
