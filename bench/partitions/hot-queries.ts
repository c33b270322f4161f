/** A statement that is made in every step, letter or look, as the ledger makes it; statements inside functions are spelled out. */
export interface HotQuery {
  readonly when: string;
  readonly sql: string;
  /** The same, if it said which tree it means; left out where it says so already, or means no tree. */
  readonly told?: string;
  /** What its parameters stand for; the tree comes behind them in `told`. */
  readonly values: readonly ('agent' | 'agents' | 'tree' | 'mail' | 'worker' | 'now' | 'channel')[];
}

export const HOT_QUERIES: readonly HotQuery[] = [
  {
    when: 'step: trees to lock',
    sql: 'SELECT 1 FROM trees WHERE root_id IN (SELECT g.root_id FROM agents g WHERE g.id = ANY ($1)) ORDER BY root_id FOR UPDATE',
    told: 'SELECT 1 FROM trees WHERE root_id = $2 AND $1::text[] IS NOT NULL FOR UPDATE',
    values: ['agents'],
  },
  {
    when: 'step: the agent',
    sql: 'SELECT * FROM agents WHERE id = $1 FOR UPDATE',
    told: 'SELECT * FROM agents WHERE id = $1 AND root_id = $2 FOR UPDATE',
    values: ['agent'],
  },
  { when: 'step: the tree', sql: 'SELECT * FROM trees WHERE root_id = $1', values: ['tree'] },
  {
    when: 'step: is the letter pending',
    sql: 'SELECT 1 FROM mail WHERE id = $1 AND to_id = $2 AND consumed_seq IS NULL',
    told: 'SELECT 1 FROM mail WHERE id = $1 AND to_id = $2 AND root_id = $3 AND consumed_seq IS NULL',
    values: ['mail', 'agent'],
  },
  {
    when: 'step: consume',
    sql: 'UPDATE mail SET consumed_seq = 1 WHERE id = $1',
    told: 'UPDATE mail SET consumed_seq = 1 WHERE id = $1 AND root_id = $2',
    values: ['mail'],
  },
  {
    when: 'step: write the agent',
    sql: 'UPDATE agents SET updated_at = 1 WHERE id = $1',
    told: 'UPDATE agents SET updated_at = 1 WHERE id = $1 AND root_id = $2',
    values: ['agent'],
  },
  {
    when: 'step: count in the tree',
    sql: 'UPDATE trees SET total = total WHERE root_id = $1',
    values: ['tree'],
  },
  { when: 'step: no wait any more', sql: 'DELETE FROM wait_edges WHERE waiter = $1', values: ['agent'] },
  {
    when: 'turn ends: who waits',
    sql: 'SELECT g.worker, e.waiter FROM wait_edges e JOIN agents g ON g.id = e.waiter WHERE e.target = $1',
    values: ['agent'],
  },
  {
    when: 'letter: number it',
    sql: 'UPDATE agents SET mail_count = mail_count + 1 WHERE id = $1 RETURNING mail_count, worker',
    told: 'UPDATE agents SET mail_count = mail_count + 1 WHERE id = $1 AND root_id = $2 RETURNING mail_count, worker',
    values: ['agent'],
  },
  {
    when: 'letter: is it there',
    sql: 'SELECT number FROM mail WHERE id = $1',
    told: 'SELECT number FROM mail WHERE id = $1 AND root_id = $2',
    values: ['mail'],
  },
  {
    when: 'wake-up: the mailbox',
    sql: 'SELECT * FROM mail WHERE to_id = $1 AND consumed_seq IS NULL ORDER BY number',
    told: 'SELECT * FROM mail WHERE to_id = $1 AND root_id = $2 AND consumed_seq IS NULL ORDER BY number',
    values: ['agent'],
  },
  {
    when: 'wake-up: signals',
    sql: 'SELECT id, agent_id, kind, about FROM signals WHERE worker = $1 ORDER BY id',
    values: ['worker'],
  },
  { when: 'take over: its agents', sql: 'SELECT * FROM agents WHERE root_id = $1', values: ['tree'] },
  {
    when: 'take over: history',
    sql: 'SELECT * FROM messages WHERE agent_id = $1 AND seq > 0 ORDER BY seq',
    values: ['agent'],
  },
  {
    when: 'heartbeat: dead workers, what they led',
    sql: 'SELECT id FROM agents WHERE worker = $1',
    values: ['worker'],
  },
  {
    when: 'look, once a second: deliveries due',
    sql: "SELECT id FROM deliveries WHERE channel = $1 AND status = 'pending' AND next_at <= $2 ORDER BY next_at LIMIT 10",
    values: ['channel', 'now'],
  },
];
