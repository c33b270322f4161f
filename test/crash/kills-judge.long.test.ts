// Proves that the judge of the kill runs detects faults: anything lost, duplicated, torn or altered in a correct run makes it fail.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { readEndedLedger } from '../../bench/judge/ended-ledger.ts';
import type { Law } from '../../bench/judge/finding.ts';
import { type Journals, readJournals } from '../../bench/kills/journal.ts';
import { judgeRun, type RunJudgement } from '../../bench/kills/judge-run.ts';
import { POINTS, type Point } from '../../bench/kills/kill-points.ts';
import { killRun, LEADER, undisturbedShapes } from '../../bench/kills/kill-run.ts';
import { OrderBook } from '../../bench/kills/order-book.ts';
import { runKills } from '../../bench/kills/run-kills.ts';
import { Random } from '../sim/random.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Timeout, generous for a loaded machine. */
const PATIENCE_MS = 600_000;
const POINT_NAMES = Object.keys(POINTS) as Point[];
const TREES = ['process-0', 'fanout-1', 'delegate-2', 'sessions-3'];
const LETTERS = "kind = 'letter' AND from_id IS NOT NULL";
const LETTER = `SELECT id FROM mail WHERE ${LETTERS} LIMIT 1`;
/** Appends a copy of the newest message of every agent. */
const AGAIN = `INSERT INTO messages (agent_id, seq, kind, content, at) SELECT agent_id, seq + 1, kind, content, at FROM messages AS newest
  WHERE seq = (SELECT max(seq) FROM messages WHERE agent_id = newest.agent_id)`;

describe('the judge of the kill runs', { timeout: PATIENCE_MS }, () => {
  const folder = temporaryFolder();
  const run = join(folder, 'run');
  let expected: ReadonlyMap<string, readonly string[]>;
  let journals: Journals;

  before(
    async () => {
      const cache = process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled');
      for (const name of ['undisturbed', 'run']) mkdirSync(join(folder, name));
      expected = await undisturbedShapes(join(folder, 'undisturbed'), cache);
      const database = `sqlite:${join(run, 'ledger.db')}`;
      const book = new OrderBook(12, POINT_NAMES, new Random('judge'));
      const terms = { database, trees: TREES, width: TREES.length, cache, leader: LEADER };
      const { lives, troubles } = await killRun({ ...terms, folder: run, book });
      assert.deepEqual(troubles, []);
      journals = readJournals(run, lives);
      assert.ok(journals.deaths.length > 0, 'the kills must fire');
    },
    { timeout: PATIENCE_MS },
  );

  /** Returns the verdict on a copy of the same run with changed ledger rows, counts file or journals. */
  async function judged(changed: { sql?: string; counts?: (text: string) => string; journals?: Journals }) {
    const copy = mkdtempSync(join(folder, 'copy-'));
    for (const name of ['ledger.db', 'counts']) copyFileSync(join(run, name), join(copy, name));
    if (changed.sql !== undefined) {
      const database = new DatabaseSync(join(copy, 'ledger.db'));
      database.exec(changed.sql);
      database.close();
    }
    const counts = join(copy, 'counts');
    if (changed.counts !== undefined) writeFileSync(counts, changed.counts(readFileSync(counts, 'utf8')));
    const ledger = await readEndedLedger(`sqlite:${join(copy, 'ledger.db')}`);
    const evidence = { ledger, journals: changed.journals ?? journals, trees: TREES, expected };
    const judgement = judgeRun({ ...evidence, folder: copy });
    ledger.database.close();
    return judgement;
  }

  function finds({ findings }: RunJudgement, law: Law): void {
    const laws = [...new Set(findings.map((one) => one.law))];
    assert.ok(laws.includes(law), `found ${laws.join() || 'nothing'}: ${findings[0]?.text}`);
  }

  it('finds nothing in a run that is right', async () => {
    const { findings, journals: held, calls, letters } = await judged({});
    assert.deepEqual(findings, []);
    assert.ok(held.messages > 50 && held.agents > 5 && held.letters > 5 && held.taken > 5);
    assert.ok(calls.once > 0 && letters.delivered > 0);
  });

  const changes: readonly (readonly [what: string, law: Law, sql: string])[] = [
    ['messages that are gone', 'lost', 'DELETE FROM messages WHERE seq = 5'],
    ['places without a message', 'gap', 'DELETE FROM messages WHERE seq = 5'],
    [
      'a message that was changed',
      'lost',
      `UPDATE messages SET content = replace(content, 'counted', 'done')`,
    ],
    ['messages that were applied again', 'doubled', AGAIN],
    ['letters that are gone', 'lost', `DELETE FROM mail WHERE ${LETTERS}`],
    ['mailboxes with gaps', 'gap', `DELETE FROM mail WHERE ${LETTERS}`],
    ['letters that nobody took', 'lost', `UPDATE mail SET consumed_seq = NULL WHERE ${LETTERS}`],
    ['letters in another text', 'lost', `UPDATE mail SET body = 'other' WHERE ${LETTERS}`],
    ['agents that are gone', 'lost', 'DELETE FROM agents WHERE parent_id IS NOT NULL'],
    ['a tree that is gone', 'lost', "DELETE FROM agents WHERE name = 'fanout-1'"],
    ['another answer', 'wrong', "UPDATE agents SET reply = 'other' WHERE parent_id IS NULL"],
    ['an agent in quarantine', 'wrong', quarantined()],
    ['a counter that is off', 'wrong', 'UPDATE trees SET live = live + 1'],
  ];
  for (const [what, law, sql] of changes)
    it(`${what}: ${law}`, async () => finds(await judged({ sql }), law));

  it('a call that ran twice, one that never ran, one that nobody made', async () => {
    finds(await judged({ counts: (text) => text + text.split('\n')[0] }), 'doubled');
    finds(await judged({ counts: () => '' }), 'lost');
    finds(await judged({ counts: (text) => `${text}somebody call_1\n` }), 'wrong');
  });

  it('a letter that was told twice', async () => {
    const body = `(SELECT body FROM mail WHERE id = (${LETTER}))`;
    const to = `(SELECT to_id FROM mail WHERE id = (${LETTER}))`;
    const sql = `UPDATE messages SET content = replace(content, ${body}, ${body} || ' ' || ${body}) WHERE agent_id = ${to} AND kind IN ('user', 'result')`;
    const { findings } = await judged({ sql });
    assert.ok(findings.some(({ text }) => text.includes('was told 2 times')));
  });

  it('a step that was applied in part; a refused step that was applied', async () => {
    const whole = journals.acknowledged.find(
      ({ created, messages }) => created.length > 0 && messages.length > 2,
    );
    assert.ok(whole !== undefined);
    const open = { ...whole, created: [...whole.created, 'nobody'] };
    const death = { point: 'in-commit', hit: 'fork', open: [open] } as const;
    finds(await judged({ journals: { ...journals, deaths: [death] } }), 'torn');
    finds(await judged({ journals: { ...journals, refused: [whole] } }), 'torn');
    const never = { ...open, messages: [], created: ['nobody'] };
    const none = { ...journals, deaths: [{ ...death, open: [never] }] };
    assert.deepEqual((await judged({ journals: none })).findings, []);
  });

  it('a real leader whose ledger forgets a step that it has acknowledged', async () => {
    const leader = join(import.meta.dirname, 'forgetful-leader.ts');
    const [tally] = await runKills({
      kills: 6,
      databases: ['sqlite'],
      points: ['before-effect', 'after-commit'],
      seed: 'forgetful',
      lanes: 1,
      tell: () => undefined,
      leader,
      hangs_ms: 30_000,
    });
    // A tree may also hang because it waits for what was forgotten.
    assert.ok(
      tally?.findings.some(({ law, text }) => law === 'lost' || /neither died nor ended/.test(text)),
      JSON.stringify(tally?.findings.slice(0, 3)),
    );
  });
});

function quarantined(): string {
  const failure = { kind: 'quarantined', error: 'quarantined: its process died', retryable: true };
  return `UPDATE agents SET status = 'errored', state = '${JSON.stringify({ type: 'errored', failure })}' WHERE name = 'w2'`;
}
