import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeHome } from '../../test/cli/run-cli.ts';
import { enterTrees } from '../enter-trees.ts';

export interface WakeupOptions {
  readonly database: string;
  readonly samples: number;
  /** Letters under way at once; each to an agent of its own. */
  readonly at_once: number;
  /** Interval in milliseconds at which the sender polls whether the letter was taken; the measurement is late by this much at most. */
  readonly look_ms: number;
  /** Longest pause before the next letter, in milliseconds; pauses vary, so that letters arrive at every phase of the worker's timers. */
  readonly pause_ms: number;
}

/** An agent waits again after each letter. */
const RULES: ScriptedRules = { rules: [{ calls: [{ name: 'wait', input: { timeout: 3_000 } }] }] };
const PATIENCE_MS = 60_000;
/** Letters before the first that counts: connections are made, code is compiled. */
const WARM_UP = 20;

/**
 * Measures the milliseconds from before this process sends a letter until it sees the transaction of a `coppice worker` that took the letter from the
 * mailbox and settled the wait, all by the clock of this process.
 */
export async function measureWakeups(options: WakeupOptions): Promise<number[]> {
  const { database, samples, at_once, look_ms, pause_ms } = options;
  const home = makeHome();
  const store = await openStore(database);
  const file = join(home.work, 'rules.json');
  writeFileSync(file, JSON.stringify(RULES));
  const worker = home.start(['worker', '--database', database, '--log', 'json', '--drain', '1']);
  try {
    const ids = await enterTrees({
      store,
      count: at_once,
      model: `scripted:${file}`,
      toolsets: ['process'],
      tools: [],
      folder: home.work,
    });
    let left = samples + WARM_UP;
    const taken: number[] = [];
    await Promise.all(
      ids.map(async (id) => {
        await untilItWaits(store, id);
        while (left > 0) {
          left -= 1;
          taken.push(await wakeOnce(store, id, look_ms));
          await untilItWaits(store, id);
          await sleep(Math.random() * pause_ms);
        }
      }),
    );
    return taken.slice(WARM_UP);
  } finally {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await store.close();
  }
}

async function wakeOnce(store: Store, id: string, look_ms: number): Promise<number> {
  const letter = {
    id: randomUUID(),
    root_id: id,
    to_id: id,
    from_id: null,
    from_name: 'you',
    kind: 'letter' as const,
    body: 'wake up',
    sent_at: Date.now(),
  };
  const begun = performance.now();
  const sent = await store.send(letter);
  if (!sent.ok) throw new Error(`the letter was refused: ${JSON.stringify(sent.refusal)}`);
  for (;;) {
    const pending = await store.mail(id);
    const took = performance.now() - begun;
    if (pending.length === 0) return took;
    if (took > PATIENCE_MS) throw new Error('the agent did not wake up');
    await sleep(look_ms);
  }
}

async function untilItWaits(store: Store, id: string): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(5)) {
    const agent = await store.agent(id);
    if (agent?.state.type === 'executing' && agent.state.running[0]?.wait !== undefined) return;
  }
  throw new Error(`${id} does not wait: ${JSON.stringify((await store.agent(id))?.state)}`);
}
