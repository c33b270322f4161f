import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { agentOf, type Row } from '../../src/store/ledger/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { stepOf } from '../../test/store/ledger-fixture.ts';

const BATCH = 12;
const PAUSE_MS = 700;

/** Writes steps that are valid except for their epoch, as a former lease holder would. */
export class StaleProbe {
  readonly #store: Store;
  readonly #pool: pg.Pool;
  attempts = 0;
  /** Writes that were not refused; each violates law 8. */
  readonly accepted: string[] = [];
  #stopped = false;

  constructor(store: Store, pool: pg.Pool) {
    this.#store = store;
    this.#pool = pool;
  }

  async run(): Promise<void> {
    for (; !this.#stopped; await sleep(PAUSE_MS)) await this.#once().catch(() => undefined);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Writes until at least `attempts` were made, for a minute at most; the trees may be at rest. */
  async reach(attempts: number): Promise<void> {
    for (const end = Date.now() + 60_000; this.attempts < attempts && Date.now() < end; )
      if ((await this.#once()) === 0) return;
  }

  async #once(): Promise<number> {
    const { rows } = await this.#pool.query(
      `SELECT * FROM agents WHERE epoch > 1 AND status NOT IN ('completed', 'failed', 'killed') ORDER BY random() LIMIT ${BATCH}`,
    );
    const steps = rows.map((row) => staleStep(agentOf(row as Row)));
    const verdicts = await this.#store.commit(steps);
    this.attempts += verdicts.length;
    for (const [index, verdict] of verdicts.entries())
      if (verdict.ok || verdict.refusal.reason !== 'stale')
        this.accepted.push(`${steps[index]?.agent_id}: ${JSON.stringify(verdict)}`);
    return verdicts.length;
  }
}

function staleStep(agent: Agent): Step {
  const message = { kind: 'event', content: { event: 'note', text: 'written too late' } } as never;
  return stepOf({ ...agent, epoch: agent.epoch - 1 }, { messages: [message] });
}
