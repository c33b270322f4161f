import { parseArgs } from 'node:util';
import { FAULTS, type Fault } from './chaos/fault-log.ts';
import { runChaos } from './chaos/run-chaos.ts';
import { tellReport } from './chaos/tell-report.ts';
import { machineLine } from './machine-line.ts';

/**
 * `npm run chaos -- [--minutes 10] [--workers 8] [--trees 200] [--agents 10] [--seed N]`: runs real workers on a real PostgreSQL that are killed,
 * stopped, disconnected, and more. Exits with 1 if a law was broken, a tree ended wrong, or a kind of fault did not fire often enough.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    workers: { type: 'string', default: '8' },
    trees: { type: 'string', default: '200' },
    agents: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    faults: { type: 'string', default: 'all' },
  },
});
const [seconds, workers, trees, agents] = [
  Number(values.minutes) * 60,
  Number(values.workers),
  Number(values.trees),
  Number(values.agents),
];
if (![seconds, workers, trees, agents].every((value) => value > 0) || workers < 2 || agents < 3) {
  console.error(
    'usage: npm run chaos -- [--minutes M] [--workers N≥2] [--trees N] [--agents N≥3] [--seed TEXT] [--faults kill,stop]',
  );
  process.exit(2);
}
/** Seconds between two faults of a kind. */
const EVERY = {
  'kill -9': 4,
  stop: 20,
  drain: 25,
  backends: 7,
  restart: 40,
  'full disk': 60,
} as const;
const wanted = (fault: string) =>
  values.faults === 'all' || values.faults.split(',').some((word) => fault.startsWith(word));
const every = Object.fromEntries(Object.entries(EVERY).filter(([fault]) => wanted(fault)));
console.log(
  `chaos: ${values.minutes} minutes, ${workers} workers, ${trees} trees of about ${agents} agents, seed ${values.seed}; ${machineLine()}`,
);
const report = await runChaos({
  seconds,
  workers,
  trees,
  agents,
  seed: values.seed,
  every,
  skewed: wanted('skew') ? 0.25 : 0,
  disk: 'full disk' in every ? 600 : null,
  probes: 500,
  tell: (line) => console.log(line),
});
/** Minimum number of faults of a kind: half of the expected number, at least one; 0 if the fault is off or was skipped. */
const floor = (fault: Fault): number => {
  if (fault === 'skew') return wanted('skew') ? 1 : 0;
  if (!(fault in every) || report.skipped.some((text) => text.startsWith(fault))) return 0;
  return Math.max(1, Math.floor(seconds / EVERY[fault] / 2));
};
const floors = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, floor(fault as Fault)]));
process.exitCode = tellReport(report, floors as Record<Fault, number>, 500, (line) => console.log(line))
  ? 0
  : 1;
