import assert from 'node:assert/strict';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { Store } from '../../src/store/store.ts';
import { CONFIG } from './ledger-fixture.ts';

/** Rows of a ledger from before facts were stored beside texts. */

const WAIT = JSON.stringify({
  results: [{ agent_id: 'a', name: 'reader', status: 'received', message: 'hi' }],
});
const MESSAGES: readonly (readonly ['user' | 'result' | 'event', object])[] = [
  ['user', { origin: 'human', text: 'plain' }],
  ['result', { call_id: 'c', name: 'wait', status: 'ok', output: WAIT }],
  ['event', { event: 'answered', text: 'denied by you: bash', data: { call_id: 'c' } }],
];
const LETTER = '{"status":"idle","success":true,"summary":"3 leaks"}';
const sql = (value: string) => `'${value.replaceAll("'", "''")}'`;

export const OLD_TEXTS = `
INSERT INTO trees (root_id, limits, live, total) VALUES ('texts', ${sql(JSON.stringify(DEFAULT_LIMITS))}, 1, 1);
INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq, mail_count, living_children, worker, epoch,
  calls, input_tokens, output_tokens, reply, created_at, updated_at)
  VALUES ('texts', 'texts', NULL, 'texts', 'agent:main:texts', 'root', 0, ${sql(JSON.stringify(CONFIG))}, 'idle', '{"type":"idle"}', ${MESSAGES.length},
  1, 0, NULL, 1, 0, 0, 0, NULL, 1000, 1000);
${MESSAGES.map(([kind, content], at) => `INSERT INTO messages (agent_id, seq, kind, content, at) VALUES ('texts', ${at + 1}, '${kind}', ${sql(JSON.stringify(content))}, 1000);`).join('\n')}
INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at)
  VALUES ('texts-1', 'texts', 'texts', 'kid-1', 'x', 'letter', ${sql(LETTER)}, 1, 1);`;

/** Checks that messages and letters are what they were: texts, of which nothing is read. */
export async function checkOldTexts(store: Store): Promise<void> {
  const read = await store.history('texts');
  assert.deepEqual(
    read.slice(0, MESSAGES.length).map(({ kind, content }) => [kind, content]),
    MESSAGES,
  );
  const mail = await store.mail('texts');
  assert.deepEqual(
    mail.map(({ body, completion }) => [body, completion]),
    [[LETTER, undefined]],
  );
}
