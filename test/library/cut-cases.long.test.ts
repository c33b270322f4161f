/** Proves that a run that was taken back to any moment, edited or not, and gone on with, can be recorded and replayed as any run, on both databases. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { openCoppice } from '../../src/coppice.ts';
import { createScriptedModel, recordRun, replayRun } from '../../src/testing.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let postgres: Databases;
before(async () => {
  postgres = await sharedPostgres();
});
const opened: { readonly close: () => Promise<void> }[] = [];
after(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await postgres.stop();
});

const RULES = [
  {
    when: { root: true, step: 0 },
    calls: ['a', 'b', 'c'].map((name) => ({ name: 'fork', input: { name, prompt: 'look' } })),
  },
  { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 60 } }] },
  { when: { root: true, user: 'once more' }, say: 'again, for {{agent.name}}' },
  { when: { root: true }, say: 'heard of them' },
  {
    when: { agent: 'a', step: 0 },
    calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'half way' } }],
  },
  { when: { step: 0 }, calls: [{ name: 'think', input: { thought: 'so' } }] },
  { say: 'seen by {{agent.name}}' },
];

const options = { toolsets: ['process' as const], builtInTools: ['think' as const] };

for (const kind of ['sqlite', 'postgres'])
  it(`at every message of each agent, and before it, on ${kind}`, { timeout: 300_000 }, async () => {
    const database =
      kind === 'sqlite' ? `sqlite:${join(temporaryFolder(), 'ledger.db')}` : await postgres.createDatabase();
    const models = { test: createScriptedModel({ rules: RULES }, 'test') };
    const coppice = await openCoppice({ ...options, database, models, model: 'test' });
    opened.push(coppice);
    const agent = await coppice.start({ prompt: 'begin' });
    await agent.result();
    await coppice.send(agent.id, 'once more');
    await agent.result();
    const places: string[] = [];
    for (const { id, parent_id } of (await coppice.agents({ tree: agent.id, all: true })).agents)
      for (const { seq, kind: of } of (await coppice.messages(id)).messages)
        if (of !== 'event' && (parent_id === null || seq > 2)) places.push(`${id}#${seq}`);
    assert.ok(places.length > 12, `${places.length}`);
    const roots: string[] = [];
    for (const to of [...places, ...places.map((place) => `before ${place}`)]) {
      const cut = await coppice.rewind(agent.id, { to }).catch((error: Error) => {
        assert.match(error.message, /nothing comes before/);
        return null;
      });
      // Before its task there is nothing to go on with.
      if (cut?.root_id && to !== `before ${agent.id}#1`) roots.push(cut.root_id);
    }
    const [last] = places.filter((place) => place.startsWith(agent.id)).slice(-1);
    const edited = await coppice.rewind(agent.id, { to: last as string, edit: 'said by hand' });
    const twice = await coppice.rewind(edited.root_id as string, { to: '0 seconds' });
    for (const root_id of [...roots, edited.root_id as string, twice.root_id as string]) {
      const again = await coppice.resume(root_id);
      await again.result();
      if (root_id === twice.root_id) {
        await coppice.send(root_id, 'once more');
        await again.result();
      }
      const recorded = await recordRun(database, root_id, options);
      if (recorded.steps.some(({ at_ms }) => at_ms < 0))
        console.log(
          'NEG',
          root_id === edited.root_id,
          root_id === twice.root_id,
          roots.indexOf(root_id),
          places.length,
          JSON.stringify(recorded.steps.map(({ at_ms, agent, type }) => [at_ms, agent, type])),
          places.join(),
        );
      const { divergences } = await replayRun(JSON.stringify(recorded), options);
      assert.deepEqual(divergences, [], root_id);
    }
  });
