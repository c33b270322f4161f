import { randomUUID } from 'node:crypto';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { DISGUISED } from './payloads.ts';

type Row = Record<string, SQLInputValue>;

const ALL = DISGUISED.join('\n');
/** A long text: the first row holds all payloads, every other row one. */
const long = (index: number): string => (index === 0 ? ALL : at(index));
const at = (index: number): string => DISGUISED[index % DISGUISED.length] as string;

/** An agent configuration with payloads in its texts. */
const config = (index: number): object => ({
  model: at(index),
  profile: at(index + 1),
  cwd: at(index + 2),
  system: ALL,
  toolsets: [at(index + 3)],
  tools: [at(index + 4)],
});

/**
 * Writes payloads into every text of a ledger that a page shows, bypassing all input checks: one payload in each short text, all in each long text, with as
 * many rows of each kind as there are payloads. `root_id`: a tree that gets as many agents and letters.
 */
export function poisonLedger(file: string, root_id: string): void {
  const db = new DatabaseSync(file);
  const rows = (table: string, where = 'true'): Row[] =>
    db.prepare(`SELECT * FROM ${table} WHERE ${where}`).all() as Row[];
  const change = (table: string, key: string, by: (row: Row, index: number) => Row): void => {
    const all = db.prepare(`SELECT * FROM ${table}`).all() as Row[];
    for (const [index, row] of all.entries()) {
      const changed = Object.entries(by(row, index));
      db.prepare(
        `UPDATE ${table} SET ${changed.map(([name]) => `${name} = ?`).join(', ')} WHERE ${key} = ?`,
      ).run(...changed.map(([, value]) => value), row[key] as SQLInputValue);
    }
  };
  const copies = (table: string, template: Row | undefined, by: (index: number) => Row): void => {
    if (template === undefined) throw new Error(`no row of ${table} to copy`);
    for (const index of DISGUISED.keys()) {
      const row = Object.entries({ ...template, ...by(index) });
      const names = row.map(([name]) => name).join(', ');
      db.prepare(`INSERT INTO ${table} (${names}) VALUES (${row.map(() => '?').join(', ')})`).run(
        ...row.map(([, value]) => value),
      );
    }
  };
  const json = (text: SQLInputValue | undefined, more: object): string =>
    JSON.stringify({ ...JSON.parse(String(text)), ...more });

  db.exec('BEGIN IMMEDIATE');
  const [root] = rows('agents', `id = '${root_id}'`);
  const [tree] = db.prepare('SELECT * FROM trees WHERE root_id = ?').all(root_id) as Row[];
  const ended = { worker: null, status: 'idle', state: JSON.stringify({ type: 'idle' }) };
  for (const index of DISGUISED.keys()) {
    // A root of its own, and a child in the tree `root_id`.
    for (const parent_id of [null, root_id]) {
      const id = randomUUID();
      const own = { id, root_id: parent_id ?? id, parent_id, depth: parent_id === null ? 0 : 1, last_seq: 1 };
      const row: Row = {
        ...root,
        ...ended,
        ...own,
        session_key: `agent:main:${id}`,
        reply: long(index),
        doing: at(index),
      };
      const names = Object.keys(row);
      db.prepare(`INSERT INTO agents (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
        ...Object.values(row),
      );
      db.prepare(
        'INSERT INTO messages (agent_id, seq, kind, content, at) SELECT ?, seq, kind, content, at FROM messages WHERE agent_id = ? AND seq = 1',
      ).run(id, root_id);
      if (parent_id === null)
        db.prepare('INSERT INTO trees (root_id, limits, live, total) VALUES (?, ?, 1, 1)').run(
          id,
          tree?.limits ?? '',
        );
    }
  }
  change('agents', 'id', (row, index) => ({
    name: at(index),
    config: json(row.config, config(index)),
  }));
  copies('mail', rows('mail', `root_id = '${root_id}'`)[0] ?? mailTo(root_id), (index) => ({
    id: randomUUID(),
    number: 1_000 + index,
    from_name: at(index),
    body: long(index),
  }));
  copies('requests', rows('requests', `agent_id = '${root_id}'`)[0], (index) => ({
    id: null,
    model: at(index),
  }));
  copies('workers', db.prepare('SELECT * FROM workers').all()[0] as Row, (index) => ({
    id: randomUUID(),
    host: at(index),
    labels: JSON.stringify([at(index + 1)]),
    role: 'worker',
    expires_at: Date.now() + 3_600_000,
  }));
  copies('asks', rows('asks')[0], (index) => ({
    id: randomUUID(),
    call_id: at(index),
    agent_name: at(index),
    tool: at(index + 1),
    subject: at(index + 2),
    input: JSON.stringify({ path: at(index), old: long(index), new: long(index), [at(index)]: at(index) }),
    cwd: at(index + 3),
    rule: at(index + 4),
    difference: `--- ${at(index)}\n+++ ${at(index)}\n@@ -1 +1 @@\n-${at(index)}\n+${long(index).replaceAll('\n', '\n+')}`,
  }));
  copies('deliveries', rows('deliveries')[0], (index) => ({
    id: randomUUID(),
    target: at(index),
    channel: at(index + 1),
    body: long(index),
    status: 'failed',
    error: at(index + 2),
  }));
  copies('cron_jobs', rows('cron_jobs')[0], (index) => ({
    id: randomUUID(),
    name: at(index),
    next_at: null,
    enabled: 0,
  }));
  change('cron_jobs', 'id', (row, index) => ({
    definition: json(row.definition, {
      task: ALL,
      deliver: [at(index)],
      created_by: at(index + 1),
      config: { ...JSON.parse(String(row.definition)).config, ...config(index) },
    }),
  }));
  change('subagent_runs', 'id', (_, index) => ({
    task: ALL,
    label: at(index),
    model: at(index),
    result: ALL,
    error: at(index),
  }));
  db.exec('COMMIT');
  db.close();
}

function mailTo(root_id: string): Row {
  return {
    root_id,
    to_id: root_id,
    from_id: null,
    kind: 'letter',
    sent_at: Date.now(),
    consumed_seq: null,
  };
}
