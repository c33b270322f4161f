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

/** `key`, and the columns of each type: names, separated by blanks. */
function table(key: string, columns: { readonly [Type in ColumnType]?: string }): Table {
  const named = Object.entries(columns) as [ColumnType, string][];
  return {
    key: key === '' ? [] : key.split(' '),
    columns: Object.fromEntries(
      named.flatMap(([type, names]) => names.split(/\s+/).map((name) => [name, type])),
    ),
  };
}

/** The tables that decisions write, with the columns that they set (docs/ledger.md); without columns that the database numbers by itself. */
export const TABLES = {
  trees: table('root_id', {
    text: 'root_id limits placement removal cut_of cut',
    int: 'live total tokens cached_tokens reserved_tokens',
    real: 'cost_usd reserved_usd',
    bool: 'served',
  }),
  agents: table('id', {
    text: 'id root_id parent_id name session_key origin config status state forked_from worker doing reply last_write budget was',
    int: `depth last_seq forked_seq mail_count noticed living_children epoch deaths calls input_tokens output_tokens cached_tokens reasoning_tokens
      created_at updated_at ended_at reaped_at made_seq`,
    real: 'cost_usd',
    bool: 'sent_this_turn',
  }),
  instructions: table('root_id', { text: 'root_id text' }),
  messages: table('agent_id seq', { text: 'agent_id kind content changed', int: 'seq at' }),
  mail: table('id', {
    text: 'id root_id to_id from_id from_name kind body images did facts',
    int: 'number sent_at consumed_seq sent_seq',
  }),
  requests: table('', {
    text: 'agent_id model',
    int: 'input_tokens output_tokens cached_tokens reasoning_tokens started_at duration_ms',
    real: 'cost_usd',
  }),
  wait_edges: table('waiter target', { text: 'waiter target', int: 'until' }),
  signals: table('', { text: 'worker agent_id kind about' }),
  unled: table('root_id agent_id', { text: 'root_id agent_id', int: 'due_at' }),
  subagent_runs: table('agent_id', {
    text: 'id root_id agent_id source session_key requester_id requester_key task label model thinking cleanup status result error deliver job_id outcome outcome_text',
    int: 'timeout_ms created_at started_at finished_at duration_ms cleaned_at',
  }),
  asks: table('id', {
    text: 'id root_id agent_id agent_name call_id tool subject input difference cwd rule verdict scope note answered_by subject_kind granted',
    int: 'asked_at answered_at revoked_at',
  }),
  deliveries: table('id', {
    text: 'id kind target channel root_id agent_id about body status worker error progress outcome outcome_text',
    int: 'created_at attempts next_at ended_at',
  }),
  workers: table('id', { text: 'id host role labels', int: 'pid started_at expires_at', bool: 'draining' }),
  cron_jobs: table('id', {
    text: 'id name root_id definition',
    int: 'next_at planned_at version created_at updated_at',
    bool: 'enabled',
  }),
  cron_fires: table('job_id instant manual', {
    text: 'job_id outcome run_id',
    int: 'instant missed fired_at',
    bool: 'manual',
  }),
  tasks: table('root_id number', {
    text: 'root_id title depends_on agent_id agent_name result added_by call_id',
    int: 'number added_at changed_at',
    bool: 'done',
  }),
  channel_seats: table('channel', { text: 'channel worker' }),
} satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;
