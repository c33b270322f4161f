/** Proves that a run of many earlier ones reads each of them once, and takes from an older one what a newer one had asked for and not got. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EarlierRuns } from '../../src/runtime/performing/earlier-run.ts';
import { CONFIG } from '../store/ledger-fixture.ts';

/** A ledger of runs, each of which took results from the one before; `has`: which keys it asked for, and the values that it has. */
function ledgerOf(runs: readonly { readonly has: Readonly<Record<string, unknown>>; fresh?: string[] }[]) {
  const read = new Map<string, number>();
  const faults = new Set<string>();
  const terms = (at: number) => ({
    ...{ name: 'test', description: '', script: '', seed: 's', started_at: 1, calls: 10 },
    ...(at === 0 ? {} : { reuses: { run: `run-${at - 1}`, fresh: runs[at]?.fresh ?? [] } }),
  });
  const store = {
    agent: async (id: string) => {
      const config = { ...CONFIG, workflow: terms(Number(id.slice(4))) };
      return { id, name: id, state: { type: 'killed' }, config };
    },
    agents: async () => [],
    history: async (id: string) => {
      read.set(id, (read.get(id) ?? 0) + 1);
      if (faults.delete(id)) throw new Error('the ledger is away');
      const keys = Object.entries(runs[Number(id.slice(4))]?.has ?? {});
      const parts = keys.map(([key], at) => ({
        ...{ type: 'call', id: `call-${at + 1}`, name: 'agent' },
        input: JSON.stringify({ key, prompt: key }),
      }));
      const results = keys.map(([key, value], at) => ({
        kind: 'result',
        content: {
          ...{ call_id: `call-${at + 1}`, name: 'agent', status: 'ok' },
          output: JSON.stringify({ reused: `of ${id}`, value, now: 1, place: at, key }),
        },
      }));
      const said = { kind: 'assistant', content: { model: 'm', parts, finish: 'calls' } };
      const got = results.filter((_, at) => keys[at]?.[1] !== undefined);
      return [said, ...got].map((message, at) => ({ ...message, seq: at + 1 }));
    },
  };
  const earlier = new EarlierRuns(store as never);
  const ask = async (run: string, key: string, label = key): Promise<unknown> => {
    const call = { key, name: '', label, phase: null };
    const found = await earlier.answer({ type: 'earlier', run, call, worktree: null }, 'asker', () =>
      Promise.reject(new Error('no worktree')),
    );
    return found.ok ? (JSON.parse(found.text)?.value ?? null) : found.error;
  };
  return { read, faults, ask };
}

it('reads each of many runs once, however many calls none of them has', async () => {
  const { read, ask } = ledgerOf(Array.from({ length: 20 }, (_, at) => ({ has: { [`key ${at}`]: at } })));
  for (let at = 0; at < 20; at += 1) assert.equal(await ask('run-19', `key ${at}`), at);
  for (let at = 0; at < 5; at += 1) assert.equal(await ask('run-19', `new ${at}`), null);
  assert.deepEqual([...read.values()], Array<number>(20).fill(1));
});

it('reads no older run while a newer one has what is asked for', async () => {
  const { read, ask } = ledgerOf([{ has: { a: 'old' } }, { has: { a: 'new' } }]);
  assert.equal(await ask('run-1', 'a'), 'new');
  assert.deepEqual([...read.keys()], ['run-1']);
});

it('takes from an older run what a newer one had asked for when it ended, but not what that made anew', async () => {
  const { ask } = ledgerOf([
    { has: { a: 'of a', b: 'of b' } },
    { has: { a: undefined, b: undefined }, fresh: ['b'] },
  ]);
  assert.equal(await ask('run-1', 'a'), 'of a');
  assert.equal(await ask('run-1', 'b'), null);
});

it('reads a run again after a failure of the ledger', async () => {
  const { faults, ask } = ledgerOf([{ has: { a: 1 } }, { has: { b: 2 } }]);
  faults.add('run-0').add('run-1');
  await assert.rejects(ask('run-1', 'a'), /away/);
  await assert.rejects(ask('run-1', 'a'), /away/);
  assert.equal(await ask('run-1', 'a'), 1);
});
