import { FAULTS, type Fault } from './fault-log.ts';
import type { ChaosReport } from './run-chaos.ts';
import { PROMISE_MS, type Takeover } from './takeovers.ts';

const MOST_LINES = 25;
const SLOWEST = 5;

/** Prints the results of a run; returns false if it failed. */
export function tellReport(
  report: ChaosReport,
  floors: Readonly<Record<Fault, number>>,
  probes: number,
  print: (line: string) => void,
): boolean {
  const { trees, agents, steps, calls, interrupted, stale, looks, settle_ms } = report;
  print('');
  for (const fault of Object.keys(FAULTS) as Fault[])
    print(
      `${String(count(report, fault)).padStart(5)} (at least ${floors[fault]})  ${fault.padEnd(9)}  ${FAULTS[fault]}`,
    );
  for (const text of report.skipped) print(`      left out: ${text}`);
  print(
    `${trees} trees, ${agents} agents, ${steps} steps; the last tree ended ${seconds(settle_ms)} after the last fault`,
  );
  print(`${calls} counted calls, ${interrupted} of them reported as interrupted and done again`);
  print(`${stale} writes of the probe with a stale epoch`);
  print(`the laws of the moment were looked at ${looks} times`);
  for (const lost_by of ['kill -9', 'stop'] as const) {
    const all = report.takeovers.filter((one) => one.lost_by === lost_by);
    print(
      `taken over after ${lost_by}: ${spread(all)}; undisturbed: ${spread(all.filter((one) => !one.disturbed))}`,
    );
  }
  for (const { agent_id, lost_by, ms, claims, disturbed } of slowest(report.takeovers))
    print(
      `  slow after ${lost_by}: ${agent_id} ${seconds(ms)}${disturbed ? ' (disturbed)' : ''}: ${claims.join(', ')}`,
    );
  const failures = [...report.broken, ...missed(report, floors, probes), ...late(report.takeovers)];
  for (const failure of failures.slice(0, MOST_LINES)) print(`  ✗ ${failure}`);
  if (failures.length > MOST_LINES) print(`  … and ${failures.length - MOST_LINES} more`);
  print(failures.length === 0 ? 'PASS' : `FAIL: ${failures.length}`);
  return failures.length === 0;
}

function count({ faults }: ChaosReport, fault: Fault): number {
  return faults.filter((one) => one.fault === fault).length;
}

function missed(report: ChaosReport, floors: Readonly<Record<Fault, number>>, probes: number): string[] {
  const seldom = (Object.keys(FAULTS) as Fault[]).filter((fault) => count(report, fault) < floors[fault]);
  return [
    ...seldom.map(
      (fault) => `${fault} fired ${count(report, fault)} times; at least ${floors[fault]} are required`,
    ),
    ...(report.stale < probes ? [`only ${report.stale} writes of the probe`] : []),
  ];
}

function late(all: readonly Takeover[]): string[] {
  return all
    .filter(({ ms, disturbed }) => !disturbed && ms > PROMISE_MS)
    .map(
      ({ agent_id, ms, lost_by }) =>
        `${agent_id} was taken over ${seconds(ms)} after ${lost_by}, more than the promise`,
    );
}

/** The slowest, undisturbed ones first. */
function slowest(all: readonly Takeover[]): readonly Takeover[] {
  return all.toSorted((a, b) => Number(a.disturbed) - Number(b.disturbed) || b.ms - a.ms).slice(0, SLOWEST);
}

function spread(all: readonly Takeover[]): string {
  const times = all.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (part: number) =>
    seconds(times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0);
  return times.length === 0 ? 'none' : `${times.length}, p50 ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
