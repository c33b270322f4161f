// Proves the timeline of a real tree: what each agent did, which agent ended which wait, the critical path, and that only changes are read again.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { JSON_DOCUMENTS } from '../../../src/documents/shapes/all-documents.ts';
import type { Store } from '../../../src/store/store.ts';
import { SPAN_KINDS } from '../../../src/trees/timeline/span.ts';
import { timelineDocument } from '../../../src/trees/timeline/timeline-json.ts';
import { TreeTimelines } from '../../../src/trees/timeline/tree-timelines.ts';
import { forked, type Scene, type Stage, setStage } from '../../runtime/stage.ts';

/** Longer than a real fork and its letters take on a busy machine. */
const SLOW_MS = 1_500;

let stage: Stage;

afterEach(() => stage.close());

/** The root forks two agents and waits for both; one of them is slow. */
async function perform(wrap?: (store: Store) => Store): Promise<string> {
  stage = await setStage(
    async (scene: Scene) => {
      if (scene.name === 'main')
        return (
          [
            [
              ['fork', { name: 'quick', prompt: 'q' }],
              ['fork', { name: 'slow', prompt: 's' }],
            ] as const,
            [['wait', { timeout: 60, from_agents: forked(scene) }]] as const,
          ][scene.step] ?? 'done'
        );
      if (scene.step > 0) return 'reported';
      if (scene.name === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return [['send', { to: scene.parent_id, message: `from ${scene.name}` }]];
    },
    wrap === undefined ? {} : { wrap },
  );
  return (await stage.perform()).root.id;
}

it('shows what each agent did, in order, and who ended the wait', async () => {
  const root_id = await perform();
  const { agents } = await new TreeTimelines(stage.store).of(root_id);
  const [main, quick, slow] = agents;
  const told = (lane: typeof main) =>
    lane?.spans
      .filter(({ kind }) => kind !== 'queued')
      .map(({ kind, name, status }) => (kind === 'tool' ? name : status === 'open' ? `${kind}…` : kind));
  assert.deepEqual(told(main), ['request', 'fork', 'fork', 'request', 'waiting', 'request', 'idle…']);
  assert.deepEqual(told(quick), ['request', 'send', 'request', 'idle…']);
  assert.deepEqual(told(slow), ['request', 'send', 'request', 'idle…']);
  const wait = main?.spans.find(({ kind }) => kind === 'waiting');
  assert.deepEqual(
    wait?.from.map(({ agent_id }) => agent_id),
    [quick?.agent.id, slow?.agent.id],
  );
  assert.ok(wait?.from.every(({ sent_at }) => sent_at !== null));
  assert.deepEqual(
    main?.letters.map(({ id }) => main.read_at.has(id)),
    [true, true],
  );
});

it('the critical path leads through the slow agent; the document is as documented', async () => {
  const root_id = await perform();
  const document = await timelineDocument(await new TreeTimelines(stage.store).of(root_id), 'begin');
  const shape = JSON_DOCUMENTS.find(({ name }) => name === 'coppice/timeline/v1')?.shape;
  assert.deepEqual(shape?.parse(document), document);
  const [first] = document.shares;
  assert.equal(document.lanes[first?.agent ?? -1]?.name, 'slow');
  assert.ok((first?.share ?? 0) > 0.5);
  assert.ok(document.shares.reduce((sum, { share }) => sum + share, 0) > 0.999);
  const { start, length } = document.path;
  for (const [index, at] of start.entries())
    assert.equal(at, index === 0 ? 0 : (start[index - 1] ?? 0) + (length[index - 1] ?? 0), 'no gaps');
  const [main] = document.lanes;
  assert.deepEqual(
    main?.waits.by.map((by) => document.lanes[by]?.name),
    ['slow'],
  );
  assert.equal(main?.spans.kind[main.waits.span[0] ?? -1], SPAN_KINDS.indexOf('waiting'));
});

it('a later document has only the lanes that changed since the earlier one', async () => {
  const root_id = await perform();
  const timelines = new TreeTimelines(stage.store);
  const first = await timelineDocument(await timelines.of(root_id), 'begin');
  const lanes = async (after: string, from = timelines) => {
    const { lanes: found } = await timelineDocument(await from.of(root_id), 'begin', { after });
    return found.map(({ name }) => name);
  };
  assert.deepEqual(await lanes(first.after), []);
  await stage.runtime.send(root_id, 'more');
  await stage.runtime.settled(root_id);
  assert.deepEqual(await lanes(first.after), ['main']);
  assert.deepEqual(await lanes(first.after), ['main'], 'for everybody who has the earlier one');
  const all = first.lanes.map(({ name }) => name);
  assert.deepEqual(
    await lanes(first.after, new TreeTimelines(stage.store)),
    all,
    'another server knows none',
  );
});

it('an agent that goes on costs its new requests only, and its timeline is that of one who reads all', async () => {
  const read: number[] = [];
  const root_id = await perform((store) =>
    Object.assign(Object.create(store), {
      requests: async (...terms: Parameters<Store['requests']>) => {
        const found = await store.requests(...terms);
        if (terms[0] === root_id) read.push(found.length);
        return found;
      },
    }),
  );
  const timelines = new TreeTimelines(stage.store);
  await timelines.of(root_id);
  await stage.runtime.send(root_id, 'more');
  await stage.runtime.settled(root_id);
  const { agents } = await timelines.of(root_id);
  const [first = 0, second = 0] = read;
  assert.ok(first > 1 && second === 1, read.join());
  assert.deepEqual(agents, (await new TreeTimelines(stage.store).of(root_id)).agents);
});

it('the agents alone are told of without reading what they did', async () => {
  let reads = 0;
  const root_id = await perform((store) =>
    Object.assign(Object.create(store), {
      history: (...terms: Parameters<Store['history']>) => {
        reads += 1;
        return store.history(...terms);
      },
    }),
  );
  reads = 0;
  const timelines = new TreeTimelines(stage.store);
  const agents = await timelineDocument(await timelines.agentsOf(root_id), 'begin');
  assert.equal(reads, 0);
  const whole = await timelineDocument(await timelines.of(root_id), 'begin', { after: agents.after });
  assert.deepEqual(agents.ids, whole.ids);
  const about = ({ lanes }: typeof whole) =>
    lanes.map(({ spans: _, requests: __, waits: ___, mail: ____, ...one }) => one);
  assert.deepEqual(about(agents), about(whole));
  assert.ok(agents.lanes.every(({ spans }) => spans.kind.length === 0));
  assert.deepEqual(agents.path.agent, []);
});

it('reads only agents that changed, and only their new messages', async () => {
  const read: string[] = [];
  const root_id = await perform((store) =>
    Object.assign(Object.create(store), {
      history: (id: string, after?: number, limit?: number) => {
        read.push(`${id} ${after}`);
        return store.history(id, after, limit);
      },
    }),
  );
  const timelines = new TreeTimelines(stage.store);
  const before = await timelines.of(root_id);
  const reads = read.length;
  assert.deepEqual({ ...(await timelines.of(root_id)), now: before.now }, before);
  assert.equal(read.length, reads);
  const last_seq = before.agents[0]?.agent.last_seq;
  await stage.runtime.send(root_id, 'more');
  await stage.runtime.settled(root_id);
  const { agents } = await timelines.of(root_id);
  assert.ok(read.slice(reads).includes(`${root_id} ${last_seq}`));
  assert.ok(read.slice(reads).every((one) => one.startsWith(root_id)));
  assert.deepEqual(agents, (await new TreeTimelines(stage.store).of(root_id)).agents);
});

it('who asks while others wait for a read gets what was written since it began, by one read for all', async () => {
  const reads = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const root_id = await perform((store) =>
    Object.assign(Object.create(store), {
      asks: async (filter: Parameters<Store['asks']>[0]) => {
        reads.resolve();
        await held.promise;
        return store.asks(filter);
      },
    }),
  );
  const timelines = new TreeTimelines(stage.store);
  const first = timelines.of(root_id);
  await reads.promise;
  await stage.runtime.send(root_id, 'more');
  await stage.runtime.settled(root_id);
  const [second, third] = [timelines.of(root_id), timelines.of(root_id)];
  held.resolve();
  const seq = async (read: typeof first) => (await read).agents[0]?.agent.last_seq ?? 0;
  assert.ok((await seq(second)) > (await seq(first)));
  assert.equal(await second, await third);
});
