import type { ModelRequest } from '../../src/models/model.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { AssistantPart } from '../../src/records/conversation/message.ts';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import type { Store } from '../../src/store/store.ts';
import { tokensOf, WINDOW, workTool } from '../../test/runtime/context/worn-out-window.ts';
import { setStage } from '../../test/runtime/stage.ts';

/** Costs between two numbers of checkpoints, and what a takeover of the agent would cost after them. */
export interface Stretch {
  readonly checkpoints: number;
  readonly turns: number;
  /** CPU time of the whole process for a turn (a request and one call), in microseconds. */
  readonly turn_us: number;
  /** Rows that the ledger returned for a turn. */
  readonly rows: number;
  readonly history: number;
  readonly takeover_rows: number;
  readonly takeover_us: number;
}

const TAKEOVERS = 20;

/** Runs an agent in a small window, to which a person writes after each checkpoint. Measures every `step` checkpoints, the first time as a warm-up. */
export async function turnCosts(checkpoints: number, step: number): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [];
  let [rows, turns, made] = [0, 0, 0];
  let begun = { rows, turns, cpu: process.cpuUsage() };
  const stage = await setStage(() => 'unused', {
    wrap: (store) => countingRows(store, (count) => (rows += count)),
    models: {
      counter: {
        id: 'bench/counter',
        context_window: WINDOW,
        tells_cost: false,
        async stream(request) {
          turns += 1;
          if (made > 0 && made % step === 0 && stretches.length < made / step) await measure(request);
          return answerTo(request, made >= checkpoints);
        },
      },
    },
    config: { model: 'counter' },
    tools: [workTool(0)],
  });
  const measure = async (request: ModelRequest) => {
    const [cpu, count] = [cpuSince(begun.cpu), turns - begun.turns];
    const seen = (rows - begun.rows) / count;
    const agent = (await stage.store.agent(request.agent.id)) as Agent;
    const before = process.cpuUsage();
    for (let round = 1; round < TAKEOVERS; round += 1)
      promptOf(await promptMessages(stage.store, agent)).messages();
    const takeover_us = cpuSince(before) / TAKEOVERS;
    const { length: takeover_rows } = await promptMessages(stage.store, agent);
    stretches.push({
      ...{ checkpoints: made, turns: count, turn_us: cpu / count, rows: seen },
      ...{ history: agent.last_seq, takeover_rows, takeover_us },
    });
    begun = { rows, turns, cpu: process.cpuUsage() };
  };
  stage.runtime.subscribe((event) => {
    if (event.type !== 'message' || event.message.kind !== 'event') return;
    if (event.message.content.event !== 'checkpoint') return;
    made += 1;
    void stage.runtime.send(event.agent_id, `Remember the number ${made}.`);
  });
  await stage.perform('Count to the end.', { turns: 1_000_000, tokens: 1_000_000_000_000 });
  await stage.close();
  return stretches.slice(1);
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function answerTo(request: ModelRequest, ends: boolean) {
  const last = request.messages.at(-1);
  const is_summary = last?.role === 'user' && last.text.includes('replaced by your summary');
  const parts: AssistantPart[] =
    is_summary || ends
      ? [{ type: 'text', text: 'So far I have counted.' }]
      : [{ type: 'call', id: `c${request.messages.length}`, name: 'work', input: '{}' }];
  const usage = { input: tokensOf(request), output: 20, cached: 0, reasoning: 0, cost_usd: null };
  return {
    type: 'answer' as const,
    content: { model: 'bench/counter', parts },
    usage,
    finish: is_summary || ends ? ('stop' as const) : ('calls' as const),
  };
}

function countingRows(store: Store, count: (rows: number) => void): Store {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        if (result instanceof Promise)
          void result.then(
            (rows) =>
              READS.has(String(key)) && count(Array.isArray(rows) ? rows.length : rows === null ? 0 : 1),
            () => {},
          );
        return result;
      };
    },
  });
}

const READS: ReadonlySet<string> = new Set([
  'agent',
  'agents',
  'tree',
  'history',
  'mail',
  'requests',
  'waiters',
  'tasks',
]);

async function promptMessages(store: Store, { id }: Agent) {
  return (await store.conversations([id])).get(id)?.messages ?? [];
}
