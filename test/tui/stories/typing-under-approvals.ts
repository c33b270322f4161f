import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

const KEY_MS = 90;
/** Every word begins with a letter that would answer if typed alone. */
const TEXT = 'say yes, never my view, even so. ';

export interface Typing {
  /** Number of agents that ask, one after the other; and of questions that each asks at once. */
  readonly agents: number;
  readonly questions: number;
  readonly keys: number;
}

/** Types at human speed while questions keep appearing: none is answered, no key is lost, and the text sent is the text typed. */
export async function typeUnderApprovals(
  test: TestContext,
  { agents, questions, keys }: Typing,
): Promise<void> {
  const config = join(temporaryFolder(), 'config.json');
  // Read calls of one message run concurrently, so they also ask at the same time.
  writeFileSync(config, JSON.stringify({ agents: { defaults: { permissions: { ask: ['read'] } } } }));
  const names = Array.from({ length: agents }, (_, index) => `asker-${index}`);
  const reads = Array.from({ length: questions }, (_, n) => ({ name: 'read', input: { path: `${n}.txt` } }));
  const span_ms = keys * KEY_MS;
  const ui = await openUi(
    test,
    {
      rules: [
        {
          when: { root: true, step: 0 },
          calls: names.map((name) => ({ name: 'fork', input: { name, prompt: 'be' } })),
        },
        { when: { root: true }, say: 'Main rests.' },
        ...names.map((agent, index) => ({
          when: { agent, step: 0 },
          delay_ms: Math.round((span_ms * 0.9 * index) / agents),
          calls: reads,
        })),
        { say: 'done' },
      ],
    },
    { args: ['--config', config] },
  );
  await ui.say('go');
  await ui.pty.until('1 of');
  const typed = TEXT.repeat(Math.ceil(keys / TEXT.length)).slice(0, keys);
  for (const key of typed) {
    ui.pty.send(key);
    await new Promise((resolve) => setTimeout(resolve, KEY_MS));
  }
  const all = agents * questions;
  await ui.pty.until(`1 of ${all} ─`);
  const asked = (store: Store) => store.asks({});
  assert.deepEqual(
    (await ui.ledger(asked)).map(({ verdict, scope, granted }) => [verdict, scope, granted]),
    Array.from({ length: all }, () => [null, null, null]),
  );
  await ui.press(KEY.enter);
  await ui.pty.until(() => ui.pty.screen().some((line) => line.trim() === '>'), 'the draft was sent');
  const letters = async (store: Store) => {
    const [root] = await store.agents({ roots: true });
    return (await store.mail(root?.id ?? '', true)).map(({ body }) => body);
  };
  // The input is cleared at once, before the commit.
  await until(async () => (await ui.ledger(letters)).length > 0, 'the draft is in the ledger');
  const sent = (await ui.ledger(letters)).at(-1);
  assert.equal(sent, typed.trimEnd());
  assert.ok(
    (await ui.ledger(asked)).every(({ verdict }) => verdict === null),
    'Enter answers nothing either',
  );
}
