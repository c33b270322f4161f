// Proves that nothing acknowledged is lost, nothing applied twice and no call silently repeated when leaders kill themselves at named points, on both
// databases.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { POINTS, type Point } from '../../bench/kills/kill-points.ts';
import { runKills } from '../../bench/kills/run-kills.ts';

const EACH = 10;

it('kills at each point on SQLite and on PostgreSQL', { timeout: 900_000 }, async (context) => {
  const points = Object.keys(POINTS) as Point[];
  const tallies = await runKills({
    kills: EACH * points.length,
    databases: ['sqlite', 'postgres'],
    points,
    seed: 'short',
    lanes: 3,
    tell: (line) => context.diagnostic(line),
  });
  for (const { database, findings, deaths, acknowledged, calls, seconds } of tallies) {
    context.diagnostic(
      `${database}: ${deaths.length} kills in ${seconds.toFixed(0)} s, ${acknowledged.messages} acknowledged messages, ${calls.interrupted_after} calls interrupted after they had run`,
    );
    assert.deepEqual(findings, []);
    assert.ok(acknowledged.messages > 0 && acknowledged.letters > 0 && calls.interrupted_after > 0);
    for (const point of points) {
      const fired = deaths.filter((death) => death.point === point).length;
      assert.ok(fired >= EACH, `the kills must fire: ${fired} ${point} on ${database}`);
    }
  }
});
