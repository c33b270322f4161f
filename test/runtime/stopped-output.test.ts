// Proves that what a command had printed is in its result, with the reason, whoever or whatever stops it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createBashTool } from '../../src/tools/bash.ts';
import { until } from '../until.ts';
import { onBothDatabases, stagesOn } from './both-databases.ts';
import { HandClock } from './hand-clock.ts';
import type { Play, Stage } from './stage.ts';

const RUN_MS = 60_000;
/** A line that is whole, and the beginning of one. */
const PRINTS = 'echo one; printf two; exec sleep 600';
const SEEN = '\nIt had printed:\none\ntwo';

onBothDatabases('a command that is stopped', (database) => {
  const stage = stagesOn(database, { tools: [createBashTool(null)], config: { tools: ['bash'] } });

  /** The results of an agent whose command is stopped once it has printed. */
  async function stopped(
    command: string,
    stop: (on: Stage, id: string, clock: HandClock) => Promise<unknown>,
  ) {
    const clock = new HandClock();
    const play: Play = ({ step }) => (step === 0 ? [['bash', { command }]] : 'done');
    const on = await stage(play, { clock });
    let printed = '';
    on.runtime.subscribe((event) => {
      if (event.type === 'output') printed += event.text;
    });
    const root = await on.start('go', { run_ms: RUN_MS });
    await until(() => printed.includes('two'), 'it has printed');
    await stop(on, root.id, clock);
    await on.runtime.settled(root.id);
    return (await on.results(root)).map(({ status, output }) => ({ status, output }));
  }

  it('by the run time', async () => {
    const results = await stopped(PRINTS, async (_on, _id, clock) => clock.pass(RUN_MS));
    const output = `Cancelled: limit reached: run time of 60 s${SEEN}`;
    assert.deepEqual(results, [{ status: 'cancelled', output }]);
  });

  it('by a person', async () => {
    const results = await stopped(PRINTS, (on, id) => on.runtime.interrupt(id, 'that is enough'));
    assert.deepEqual(results, [{ status: 'cancelled', output: `Cancelled: that is enough${SEEN}` }]);
  });

  it('after more than a result holds: its beginning, its end, and the file of all of it', async () => {
    const command = `seq 20000; ${PRINTS}`;
    const [result] = await stopped(command, (on, id) => on.runtime.interrupt(id, 'enough'));
    assert.match(
      result?.output ?? '',
      /^Cancelled: enough\nIt had printed:\n1\n2\n[\s\S]*bytes left out; the whole output is in \/\S+ …\][\s\S]*\n20000\none\ntwo$/,
    );
  });
});
