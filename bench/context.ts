import { PROTOCOLS } from '../test/models/protocols.ts';
import { prefixShares } from './context/prefix-shares.ts';
import { turnCosts } from './context/turn-costs.ts';
import { machineLine } from './machine-line.ts';

/**
 * `npm run bench:context`: measures whether a turn costs more after many checkpoints, and what share of agents' requests a provider's cache has, with and
 * without cuts.
 */
const [CHECKPOINTS, STEP] = [120, 20];
const [TURNS, WINDOW] = [200, 16_000];

console.log(`${machineLine()}\n`);
console.log(
  'a turn (a request and one call) within a window of 8,000 tokens; a person speaks after each checkpoint; SQLite on disk, the model in the process',
);
console.log(
  'checkpoints    turns    CPU of a turn    rows read    rows in all    read by a takeover    its CPU',
);
for (const row of await turnCosts(CHECKPOINTS, STEP))
  console.log(
    [
      `${row.checkpoints - STEP}–${row.checkpoints}`.padStart(11),
      String(row.turns).padStart(9),
      `${row.turn_us.toFixed(0)} µs`.padStart(17),
      row.rows.toFixed(2).padStart(13),
      String(row.history).padStart(15),
      String(row.takeover_rows).padStart(22),
      `${(row.takeover_us / 1_000).toFixed(1)} ms`.padStart(11),
    ].join(''),
  );

console.log(
  `\none agent, ${TURNS} turns, a local server; cut for a window of ${WINDOW} tokens, or never; share of the bytes that are equal to the beginning of the request before,\nand with Anthropic's breakpoints what its cache would have`,
);
console.log(
  'protocol              results    window    cuts    requests    KB a request    as before    cache    KB new a request',
);
for (const protocol of PROTOCOLS)
  for (const [results, window] of [
    [360, null],
    [360, WINDOW],
    [3_600, null],
    [3_600, WINDOW],
  ] as const) {
    const { requests, elisions, checkpoints, sent, same, found } = await prefixShares(protocol, {
      turns: TURNS,
      window,
      results,
    });
    const share = (part: number) => `${((100 * part) / sent).toFixed(1)} %`;
    console.log(
      [
        protocol.type.padEnd(20),
        String(results).padStart(9),
        (window === null ? 'endless' : String(window)).padStart(10),
        `${elisions}+${checkpoints}`.padStart(8),
        String(requests).padStart(12),
        (sent / requests / 1_000).toFixed(1).padStart(16),
        share(same).padStart(13),
        (found === null ? '' : share(found)).padStart(9),
        ((sent - same) / requests / 1_000).toFixed(1).padStart(20),
      ].join(''),
    );
  }
