// Proves that trees on three real workers and a durable PostgreSQL end correctly while workers are killed and stopped and the database is disconnected and
// restarted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runChaos } from '../../bench/chaos/run-chaos.ts';

const PROBES = 100;

it('twelve trees, three workers, four kinds of faults', { timeout: 300_000 }, async (context) => {
  const report = await runChaos({
    seconds: 12,
    workers: 3,
    trees: 12,
    agents: 5,
    seed: 'short',
    every: { 'kill -9': 4, stop: 16, backends: 4, restart: 14 },
    skewed: 0,
    disk: null,
    probes: PROBES,
    tell: (line) => context.diagnostic(line),
  });
  context.diagnostic(
    `${report.agents} agents, ${report.steps} steps, ${report.interrupted} calls interrupted`,
  );
  assert.deepEqual(report.broken, []);
  assert.equal(report.trees, 12);
  assert.ok(report.stale >= PROBES, `${report.stale} writes with a stale epoch`);
  for (const fault of ['kill -9', 'stop', 'backends', 'restart'])
    assert.ok(
      report.faults.some((one) => one.fault === fault),
      `the faults must fire: no ${fault}`,
    );
});
