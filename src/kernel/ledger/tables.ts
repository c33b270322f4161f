/** A value of a column; JSON is stored as text. */
export type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value>>;

/** `int`: whole numbers below 2^53; `real`: other numbers. */
export type ColumnType = 'text' | 'int' | 'real' | 'bool';

export interface Table {
  /** The primary key; empty if the database numbers the rows. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
}

/** The tables that decisions write, with the columns that they set (docs/ledger.md); without columns that the database numbers by itself. */
export const TABLES = {
  trees: {
    key: ['root_id'],
    columns: {
      ...{ root_id: 'text', limits: 'text', live: 'int', total: 'int', tokens: 'int', cost_usd: 'real' },
      ...{ cached_tokens: 'int', reserved_tokens: 'int', reserved_usd: 'real' },
      ...{ served: 'bool', placement: 'text', removal: 'text' },
    },
  },
  agents: {
    key: ['id'],
    columns: {
      ...{
        id: 'text',
        root_id: 'text',
        parent_id: 'text',
        name: 'text',
        session_key: 'text',
        origin: 'text',
      },
      ...{
        depth: 'int',
        config: 'text',
        status: 'text',
        state: 'text',
        last_seq: 'int',
        forked_from: 'text',
      },
      ...{ forked_seq: 'int', mail_count: 'int', noticed: 'int', living_children: 'int', worker: 'text' },
      ...{ epoch: 'int', deaths: 'int', calls: 'int', input_tokens: 'int', output_tokens: 'int' },
      ...{ cached_tokens: 'int', reasoning_tokens: 'int', cost_usd: 'real', doing: 'text', reply: 'text' },
      ...{ sent_this_turn: 'bool', last_write: 'text', created_at: 'int', updated_at: 'int' },
      ...{ ended_at: 'int', reaped_at: 'int', budget: 'text' },
    },
  },
  instructions: {
    key: ['root_id'],
    columns: { root_id: 'text', text: 'text' },
  },
  messages: {
    key: ['agent_id', 'seq'],
    columns: { agent_id: 'text', seq: 'int', kind: 'text', content: 'text', at: 'int', changed: 'text' },
  },
  mail: {
    key: ['id'],
    columns: {
      ...{ id: 'text', root_id: 'text', to_id: 'text', from_id: 'text', from_name: 'text', kind: 'text' },
      ...{ body: 'text', images: 'text', did: 'text', number: 'int', sent_at: 'int', consumed_seq: 'int' },
    },
  },
  requests: {
    key: [],
    columns: {
      ...{ agent_id: 'text', model: 'text', input_tokens: 'int', output_tokens: 'int', cached_tokens: 'int' },
      ...{ reasoning_tokens: 'int', cost_usd: 'real', started_at: 'int', duration_ms: 'int' },
    },
  },
  wait_edges: {
    key: ['waiter', 'target'],
    columns: { waiter: 'text', target: 'text', until: 'int' },
  },
  signals: {
    key: [],
    columns: { worker: 'text', agent_id: 'text', kind: 'text', about: 'text' },
  },
  unled: {
    key: ['root_id', 'agent_id'],
    columns: { root_id: 'text', agent_id: 'text', due_at: 'int' },
  },
  subagent_runs: {
    key: ['agent_id'],
    columns: {
      ...{ id: 'text', root_id: 'text', agent_id: 'text', source: 'text', session_key: 'text' },
      ...{ requester_id: 'text', requester_key: 'text', task: 'text', label: 'text', model: 'text' },
      ...{
        thinking: 'text',
        timeout_ms: 'int',
        cleanup: 'text',
        status: 'text',
        result: 'text',
        error: 'text',
      },
      ...{ created_at: 'int', started_at: 'int', finished_at: 'int', duration_ms: 'int', deliver: 'text' },
      ...{ job_id: 'text', cleaned_at: 'int' },
    },
  },
  asks: {
    key: ['id'],
    columns: {
      ...{ id: 'text', root_id: 'text', agent_id: 'text', agent_name: 'text', call_id: 'text', tool: 'text' },
      ...{ subject: 'text', input: 'text', difference: 'text', cwd: 'text', rule: 'text', asked_at: 'int' },
      ...{ verdict: 'text', scope: 'text', note: 'text', answered_by: 'text', answered_at: 'int' },
      ...{ subject_kind: 'text', granted: 'text', revoked_at: 'int' },
    },
  },
  deliveries: {
    key: ['id'],
    columns: {
      ...{ id: 'text', kind: 'text', target: 'text', channel: 'text', root_id: 'text', agent_id: 'text' },
      ...{ about: 'text', body: 'text', created_at: 'int', status: 'text', attempts: 'int', next_at: 'int' },
      ...{ worker: 'text', error: 'text', progress: 'text', ended_at: 'int' },
    },
  },
  workers: {
    key: ['id'],
    columns: {
      ...{ id: 'text', host: 'text', pid: 'int', role: 'text', labels: 'text', draining: 'bool' },
      ...{ started_at: 'int', expires_at: 'int' },
    },
  },
  cron_jobs: {
    key: ['id'],
    columns: {
      ...{ id: 'text', name: 'text', root_id: 'text', definition: 'text', enabled: 'bool', next_at: 'int' },
      ...{ planned_at: 'int', version: 'int', created_at: 'int', updated_at: 'int' },
    },
  },
  cron_fires: {
    key: ['job_id', 'instant', 'manual'],
    columns: {
      ...{ job_id: 'text', instant: 'int', manual: 'bool', outcome: 'text', missed: 'int', run_id: 'text' },
      ...{ fired_at: 'int' },
    },
  },
  tasks: {
    key: ['root_id', 'number'],
    columns: {
      ...{
        root_id: 'text',
        number: 'int',
        title: 'text',
        depends_on: 'text',
        done: 'bool',
        agent_id: 'text',
      },
      ...{
        agent_name: 'text',
        result: 'text',
        added_by: 'text',
        call_id: 'text',
        added_at: 'int',
        changed_at: 'int',
      },
    },
  },
  channel_seats: { key: ['channel'], columns: { channel: 'text', worker: 'text' } },
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;
