import { parseArgs } from 'node:util';
import { POINTS, type Point } from './kills/kill-points.ts';
import { type DatabaseKind, runKills } from './kills/run-kills.ts';
import { tellKills } from './kills/tell-kills.ts';
import { machineLine } from './machine-line.ts';

/**
 * `npm run kills -- [--kills 1000] [--database sqlite|postgres|both] [--seed N] [--points a,b] [--lanes 4]`: processes that lead trees kill
 * themselves with SIGKILL at named points, others go on, and everything acknowledged is compared with the ledger. `--kills` is per
 * database. Exits with 1 when a law was broken or a kind of kill did not fire.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'both' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    points: { type: 'string', default: Object.keys(POINTS).join() },
    lanes: { type: 'string', default: '4' },
  },
});
const [kills, lanes] = [Number(values.kills), Number(values.lanes)];
const points = values.points.split(',').filter((point): point is Point => point in POINTS);
const databases = (['sqlite', 'postgres'] as const).filter(
  (kind: DatabaseKind) => values.database === 'both' || values.database === kind,
);
const all_known = points.length === values.points.split(',').length;
if (
  !Number.isInteger(kills) ||
  kills < 1 ||
  !Number.isInteger(lanes) ||
  lanes < 1 ||
  !all_known ||
  databases.length === 0
) {
  console.error(
    `usage: npm run kills -- [--kills N] [--database sqlite|postgres|both] [--seed TEXT] [--lanes N] [--points ${Object.keys(POINTS).join()}]`,
  );
  process.exit(2);
}
console.log(
  `kills: ${kills} at ${points.length} points on ${databases.join(' and ')}, seed ${values.seed}; ${machineLine()}`,
);
const tallies = await runKills({
  kills,
  databases,
  points,
  lanes,
  seed: values.seed,
  tell: (line) => console.log(line),
  keep: true,
});
process.exitCode = tellKills(tallies, points, kills, (line) => console.log(line)) ? 0 : 1;
