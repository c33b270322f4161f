// Proves, over real HTTP and by the requests that a server counts, that a fork bomb by the tools of every vocabulary, with 20 concurrent requests, exceeds the
// budget of its tree by at most one request of each working agent.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import { Gate } from '../../src/models/gate/gate.ts';
import { openModel } from '../../src/models/providers.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { startAnthropicServer } from '../servers/anthropic-server.ts';
import { setStage } from './stage.ts';
import { CREATION_PATHS } from './toolsets/creation-path.ts';

afterEach(closeOpened);

const BUDGET = 1;
/** In dollars: 2,500 output tokens at $1 per million. */
const PRICE = 0.0025;
const AT_ONCE = 20;
/** Answers are held back until no request arrived for this long, or the maximum concurrency was reached once. */
const QUIET_MS = 300;

for (const slash of [false, true])
  it(`a fork bomb${slash ? ' with slash commands' : ''} over HTTP, ${AT_ONCE} at once`, async () => {
    const paths = CREATION_PATHS.filter(
      ({ name }) => name.startsWith('slash') === slash || !/^(slash|process)/.test(name),
    );
    let [asked, under_way, most] = [0, 0, 0];
    const server = await startAnthropicServer({
      record: false,
      answer: async () => {
        asked += 1;
        under_way += 1;
        most = Math.max(most, under_way);
        // Gives other agents time to send requests.
        await sleep(50);
        for (let seen = 0; most < AT_ONCE && seen !== asked; await sleep(QUIET_MS)) seen = asked;
        under_way -= 1;
        const calls = paths.map(({ call }, place) => {
          const [name, input] = call(asked * paths.length + place);
          return { name, input };
        });
        return { calls, usage: { input: 0, output: 2_500 } };
      },
    });
    closeLater(() => server.close());
    const name = 'local/m';
    const model = await openModel(name, {
      providers: {
        local: {
          type: 'anthropic',
          baseURL: `${server.url}/v1`,
          apiKeyEnv: 'KEY',
          models: { m: { price: { input: 1, output: 1 } } },
        },
      },
      env: { KEY: 'k' },
      gates: new Map([[name, new Gate({ start: AT_ONCE, most: AT_ONCE })]]),
    });
    const on = await setStage(() => 'never asked', {
      toolsets: [slash ? 'slash' : 'process', 'fanout', 'sessions', 'delegate'],
      terms: { delegation: { ...DEFAULT_TERMS.delegation, max_depth: 8, servers: ['helper'] } },
      models: { 'play/actor': model, 'acp:helper': model },
    });
    const room = { depth: 8, children: 64, live: 64, total: 600 };
    const { root } = await on.perform('go', { ...room, cost_usd: BUDGET });
    const tree = await on.store.tree(root.id);
    const counted = Math.round((tree?.cost_usd ?? 0) / PRICE);
    assert.ok(counted >= BUDGET / PRICE && asked >= counted, `the budget was used: ${counted} of ${asked}`);
    // An agent that was stopped before its answer also has one request beyond the budget. More than `live` agents can be at work: a message wakes one at rest.
    assert.ok(asked <= BUDGET / PRICE + (tree?.total ?? 0), `${asked} requests of ${tree?.total} agents`);
    // More are possible, because the server still counts requests that a stopped agent has given up.
    assert.ok(most >= AT_ONCE, `${most} asked at once`);
    const beyond = new Map<string, number>();
    let sum = 0;
    for (const { agent_id, usage } of await on.store.usageAfter(0, 100_000)) {
      sum += usage.cost_usd ?? 0;
      if (sum > BUDGET + 1e-9) beyond.set(agent_id, (beyond.get(agent_id) ?? 0) + 1);
    }
    for (const [id, count] of beyond) assert.equal(count, 1, id);
    assert.equal(counted, Math.round(BUDGET / PRICE) + beyond.size);
  });
