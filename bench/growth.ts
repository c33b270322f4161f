import { parseArgs } from 'node:util';
import { openStore } from '../src/store/open-store.ts';
import { growLedger } from './growth/grown-ledger.ts';
import { OPERATIONS } from './growth/operations.ts';
import { openPostgres, openSqlite } from './ledger/bench-database.ts';
import { machineLine } from './machine-line.ts';

/**
 * `npm run bench:growth -- [--full] [--database sqlite|postgres] [--debian] [--only WORD]`: what common operations cost on ledgers of three sizes, and the
 * exponent by which they grow: 0 is constant, 1 is in proportion, 2 is quadratic. `--full`: up to 10,000 trees, 100,000 agents and 800,000 messages.
 */
const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    database: { type: 'string' },
    debian: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const SIZES = values.full ? [100, 1_000, 10_000] : [30, 300, 3_000];
/** What an operation may grow by. */
const MOST = { constant: 0.2, indexed: 1, linear: 1.1 } as const;

const chosen = OPERATIONS.filter(({ name }) => values.only === undefined || name.includes(values.only));
const words = (cells: readonly string[]) =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(36) : cell.padStart(12))).join('');

async function measure(name: 'sqlite' | 'postgres'): Promise<void> {
  const times = new Map<string, number[]>(chosen.map((one) => [one.name, []]));
  for (const trees of SIZES) {
    const database = name === 'sqlite' ? await openSqlite() : await openPostgres({ debian: values.debian });
    try {
      if (trees === SIZES[0]) console.log(`\n${database.name}`);
      await (await openStore(database.url)).close();
      const began = performance.now();
      const grown = await growLedger(database.url, trees);
      console.log(`  ${trees} trees made in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      const store = await openStore(database.url);
      for (const { name: operation, rounds, run } of chosen) {
        let least = Number.POSITIVE_INFINITY;
        for (let round = 0; round < rounds; round += 1) {
          const at = performance.now();
          await run({ ...grown, url: database.url, store });
          least = Math.min(least, performance.now() - at);
        }
        times.get(operation)?.push(least);
      }
      await store.close();
    } finally {
      await database.close();
    }
  }
  console.log(words(['', ...SIZES.map((size) => `${size} trees`), 'exponent', 'at most']));
  for (const { name: operation, grows } of chosen) {
    const took = times.get(operation) ?? [];
    const found = exponent(SIZES, took);
    const mark = found > MOST[grows] ? ' ✗' : '';
    console.log(words([operation, ...took.map(milliseconds), found.toFixed(2), `${MOST[grows]}${mark}`]));
  }
}

function milliseconds(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

/** The slope of a straight line through the logarithms. */
function exponent(sizes: readonly number[], took: readonly number[]): number {
  const [x, y] = [sizes.map(Math.log), took.map(Math.log)];
  const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
  const [mx, my] = [mean(x), mean(y)];
  const over = x.reduce((sum, one, at) => sum + (one - mx) * ((y[at] ?? my) - my), 0);
  return over / x.reduce((sum, one) => sum + (one - mx) ** 2, 0);
}

console.log(`growth: ${machineLine()}`);
for (const name of ['sqlite', 'postgres'] as const)
  if (values.database === undefined || values.database === name) await measure(name);
