import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { everyOrder, newGround } from '../test/runtime/waits/every-order.ts';
import { SCENARIOS } from '../test/runtime/waits/order-scenarios.ts';

/**
 * `npm run orders -- [--only WORDS] [--database sqlite|postgres] [--preemptions N]`: plays each join with everything that can happen to it, in every order,
 * on both databases; exits with 1 if an order fails. `--preemptions N` plays only orders with at most N preemptions. Joins of three agents have too many
 * orders: only the first ten thousand with at most two preemptions are played.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    database: { type: 'string' },
    preemptions: { type: 'string' },
  },
});
const bounds = values.preemptions === undefined ? {} : { preemptions: Number(values.preemptions) };
const BOUNDS_OF_FEW = { preemptions: 2, first: 10_000 };
let failing = 0;

async function explore(name: string, url?: string): Promise<void> {
  const ground = await newGround(url);
  for (const { title, scenario, share } of SCENARIOS.filter((one) => one.title.includes(values.only))) {
    const began_at = process.cpuUsage();
    const said = await everyOrder(scenario, ground, {
      ...(share === 'few' ? BOUNDS_OF_FEW : {}),
      ...bounds,
    }).then(
      (orders) => `${String(orders).padStart(6)} orders`,
      (error: Error) => {
        failing += 1;
        return `FAILS ${error.message}\n${error.cause}`;
      },
    );
    const { user, system } = process.cpuUsage(began_at);
    console.log(`${name}  ${said}  ${((user + system) / 1_000_000).toFixed(1).padStart(6)} s  ${title}`);
  }
  await ground.close();
}

if (values.database !== 'postgres') await explore('sqlite  ');
if (values.database !== 'sqlite') {
  const server = await startPostgres();
  await explore('postgres', await server.createDatabase());
  await server.stop();
}
process.exitCode = failing === 0 ? 0 : 1;
