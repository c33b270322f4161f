// Proves which processes count as leaders of a served tree: those with its labels that take over trees by themselves and are not about to stop.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KnownWorker, Store } from '../../../src/store/store.ts';
import { isServed, mayLead } from '../../../src/trees/leaders/leaders.ts';

const worker = (more: Partial<KnownWorker> = {}): KnownWorker =>
  ({
    id: 'w',
    host: 'elsewhere',
    pid: 1,
    role: 'worker',
    labels: ['gpu'],
    draining: false,
    ...more,
  }) as KnownWorker;

it('a worker or server with all labels leads, one that drains or leads its own tree only does not', async () => {
  for (const [one, placement, leads] of [
    [worker(), [], true],
    [worker(), ['gpu'], true],
    [worker({ role: 'serve' }), ['gpu'], true],
    [worker(), ['gpu', 'big'], false],
    [worker({ draining: true }), [], false],
    [worker({ role: 'run' }), [], false],
  ] as const) {
    assert.equal(mayLead(one, placement), leads);
    const store = { workers: async () => [worker({ role: 'run' }), one] } as unknown as Store;
    assert.equal(await isServed(store, placement), leads);
  }
});
