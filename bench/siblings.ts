import { setTimeout as sleep } from 'node:timers/promises';
import { openModel } from '../src/models/providers.ts';
import { type Play, setStage } from '../test/runtime/stage.ts';
import { startAnthropicServer } from '../test/servers/anthropic-server.ts';
import type { Exchange } from '../test/servers/brain.ts';

/**
 * `npm run bench:siblings`: what is saved, and what it costs in time, when forks with another model than their parent let the first one's answer begin. The
 * server speaks Anthropic's protocol and keeps prefixes as Anthropic does: known from the first byte of an answer on, found up to 20 blocks before a breakpoint.
 */
const MODEL = 'local/claude-sonnet-4-5';
const [FIRST_BYTE_MS, HISTORY, FORKS] = [400, 200_000, [2, 8, 16]];
const LOOK_BACK = 20;
/** Dollars per million tokens: read from the cache, written to it. */
const PRICE = { read: 0.3, write: 3.75 };

interface Tally {
  read: number;
  written: number;
}

/** The blocks of a request in the order in which they are cached, without their breakpoints, and where these are. */
function blocksOf({ body }: Exchange): {
  readonly texts: readonly string[];
  readonly marks: readonly number[];
} {
  const messages = body.messages as { role: string; content: unknown }[];
  const all = [
    ...(body.tools as object[]),
    ...(body.system as object[]),
    ...messages.flatMap(({ content }) => (Array.isArray(content) ? content : [content])),
  ];
  const marks = all.flatMap((block, at) => (JSON.stringify(block).includes('"cache_control"') ? [at] : []));
  return { texts: all.map((block) => JSON.stringify({ ...block, cache_control: undefined })), marks };
}

async function run(forks: number, siblingsWait: boolean): Promise<Tally & { readonly ms: number }> {
  const kept = new Set<string>();
  const tally: Tally = { read: 0, written: 0 };
  const server = await startAnthropicServer({
    record: false,
    async answer(exchange) {
      const { texts, marks } = blocksOf(exchange);
      const upTo = (at: number) => texts.slice(0, at + 1).join('\n');
      const near = marks.flatMap((mark) => Array.from({ length: LOOK_BACK }, (_, back) => mark - back));
      const cached = Math.max(
        0,
        ...near
          .filter((at) => at >= 0)
          .map(upTo)
          .filter((text) => kept.has(text))
          .map((text) => text.length),
      );
      const whole = upTo(marks.at(-1) ?? 0);
      tally.read += cached / 4;
      tally.written += (whole.length - cached) / 4;
      await sleep(FIRST_BYTE_MS);
      for (const mark of marks) kept.add(upTo(mark));
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
