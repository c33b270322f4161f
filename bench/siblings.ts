import { setTimeout as sleep } from 'node:timers/promises';
import { openModel } from '../src/models/providers.ts';
import { type Play, setStage } from '../test/runtime/stage.ts';
import { startAnthropicServer } from '../test/servers/anthropic-server.ts';
import { cachedOrder, PrefixCache } from './prefix-cache.ts';

/**
 * `npm run bench:siblings`: measures what forks with another model than their parent save, and lose in time, if they wait for the first one's answer to
 * begin. The server speaks Anthropic's protocol and caches prefixes as Anthropic does: available from the first byte of an answer on, found up to 20 blocks
 * before a breakpoint.
 */
const MODEL = 'local/claude-sonnet-4-5';
const [FIRST_BYTE_MS, HISTORY, FORKS] = [400, 200_000, [2, 8, 16]];
/** Dollars per million tokens: read from the cache, written to it. */
const PRICE = { read: 0.3, write: 3.75 };

interface Tally {
  read: number;
  written: number;
}

async function run(forks: number, siblingsWait: boolean): Promise<Tally & { readonly ms: number }> {
  const cache = new PrefixCache();
  const tally: Tally = { read: 0, written: 0 };
  const server = await startAnthropicServer({
    record: false,
    async answer(exchange) {
      const order = cachedOrder(exchange);
      const { found, whole } = cache.read(order);
      tally.read += found / 4;
      tally.written += (whole - found) / 4;
      await sleep(FIRST_BYTE_MS);
      cache.keep(order);
      return { text: 'done' };
    },
  });
  const model = await openModel(MODEL, {
    providers: {
      local: {
        type: 'anthropic',
        baseURL: `${server.url}/v1`,
        apiKeyEnv: 'KEY',
        siblingsWait,
        maxConcurrent: 32,
      },
    },
    env: { KEY: 'key' },
  });
  const play: Play = ({ name, step }) =>
    name === 'main' && step === 0
      ? Array.from(
          { length: forks },
          (_, n) => ['fork', { name: `f${n}`, prompt: 'go', model: MODEL }] as const,
        )
      : 'done';
  const on = await setStage(play, { models: { [MODEL]: model } });
  const before = performance.now();
  await on.perform('x'.repeat(HISTORY), { children: 64, live: 64 });
  const ms = performance.now() - before;
  await on.close();
  await server.close();
  return { ...tally, ms };
}

const dollars = ({ read, written }: Tally) => (read * PRICE.read + written * PRICE.write) / 1_000_000;
console.log(
  `forks with another model, a history of ${HISTORY / 4} tokens, first byte after ${FIRST_BYTE_MS} ms; tokens of input in thousands\n`,
);
console.log('forks    siblings    read    written    dollars    all done');
for (const forks of FORKS)
  for (const waits of [false, true]) {
    const result = await run(forks, waits);
    const cells = [
      String(forks).padStart(5),
      (waits ? 'wait' : 'at once').padStart(11),
      (result.read / 1_000).toFixed(0).padStart(7),
      (result.written / 1_000).toFixed(0).padStart(10),
      dollars(result).toFixed(3).padStart(10),
      `${result.ms.toFixed(0)} ms`.padStart(11),
    ];
    console.log(cells.join(''));
  }
