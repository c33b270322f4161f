// Proves what the page of a tree derives from the compact timeline: the same spans and letters, answers merged, idle time folded, siblings grouped.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { axisOf, shifted, ticksOf, zoomed } from '../../web/views/tree/axis.ts';
import { barAt, type Lane, repeatOf, type TimelineDocument, unpacked } from '../../web/views/tree/lanes.ts';
import { rowsOf } from '../../web/views/tree/rows.ts';
import { stepsOf } from '../../web/views/tree/steps.ts';

type LaneDocument = TimelineDocument['lanes'][number];

const [REQUEST, TOOL, IDLE] = [0, 1, 5];

function lane(
  agent: number,
  spans: readonly (readonly [number, number, number])[],
  parent = 0,
): LaneDocument {
  let before = 0;
  return {
    agent,
    name: agent === 0 ? 'main' : `reader-${agent}`,
    parent: agent === 0 ? null : parent,
    depth: agent === 0 ? 0 : 1,
    origin: 'fork',
    outcome: 'done',
    outcome_text: 'done',
    status: 'idle',
    model: 'play/m',
    thinking: 'off',
    created: 0,
    ended: null,
    workflow: null,
    phase: null,
    fork_seq: null,
    tool_calls: 0,
    tokens: 0,
    cost_usd: null,
    spans: {
      kind: spans.map(([kind]) => kind),
      name: spans.map(() => 0),
      said: spans.map(() => 0),
      status: spans.map(() => 1),
      start: spans.map(([, start]) => {
        const step = start - before;
        before = start;
        return step;
      }),
      length: spans.map(([, start, end]) => (end < 0 ? -1 : end - start)),
      seq: spans.map((_, index) => index),
    },
    requests: { input: [7, 8], cached: [0, 0], output: [1, 2], cost: [3, 2_000_000] },
    waits: { span: [], by: [], at: [] },
    mail: { number: [], kind: [], from: [], sent: [], read: [] },
  };
}

function answer(lanes: readonly LaneDocument[], count = lanes.length): TimelineDocument {
  return {
    root_id: 'r',
    title: 'begin',
    started_at: '2026-01-01T00:00:00.000Z',
    now: 100_000,
    after: 'reader-1',
    ids: Array.from({ length: count }, (_, index) => `id${index}`),
    lanes: [...lanes],
    names: ['search'],
    path: { agent: [], kind: [], start: [], length: [] },
    shares: [],
  };
}

const BUSY = [
  [REQUEST, 0, 10_000],
  [TOOL, 10_000, 11_000],
  [REQUEST, 11_000, 12_000],
  [IDLE, 12_000, 72_000],
  [TOOL, 72_000, 80_000],
  [IDLE, 80_000, -1],
] as const;

describe('the compact timeline', () => {
  it('is unpacked: starts are summed up, usage belongs to requests, what goes on has no end', () => {
    const [main] = unpacked(answer([lane(0, BUSY)]), null).lanes as [Lane];
    assert.deepEqual(
      main.bars.map(({ start, end }) => [start, end]),
      BUSY.map(([, start, end]) => [start, end < 0 ? Infinity : end]),
    );
    assert.deepEqual(
      main.bars.map(({ input, cost_usd }) => [input, cost_usd]),
      [
        [7, 0.000_003],
        [0, 0],
        [8, 2],
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    );
    assert.equal(barAt(main, 10_500), 1);
    assert.equal(repeatOf(main, 4), 'search (2/2)');
  });

  it('ids in what a bar says are the names of their agents, or their beginnings', () => {
    const [own, other] = ['0f0e0d0c-0000-4000-8000-00000000000a', '0f0e0d0c-0000-4000-8000-00000000000b'];
    const first = answer([lane(0, BUSY), lane(1, BUSY)]);
    const { lanes } = unpacked({ ...first, ids: [own, 'id1'], names: [`to ${own} and ${other}`] }, null);
    assert.equal(lanes[1]?.bars[0]?.said, 'to main and 0f0e0d0c');
  });

  it('a later answer replaces only the lanes that it has', () => {
    const first = unpacked(answer([lane(0, BUSY), lane(1, BUSY)]), null);
    const next = unpacked(answer([lane(1, BUSY.slice(0, 1))], 2), first);
    assert.equal(next.lanes[0], first.lanes[0]);
    assert.equal(next.lanes[1]?.bars.length, 1);
    assert.equal(first.lives, false);
    assert.equal(unpacked(answer([lane(0, [[REQUEST, 0, -1]])]), null).end, 100_000, 'it goes on until now');
  });
});

describe('the axis', () => {
  const axis = axisOf(unpacked(answer([lane(0, BUSY)]), null));

  it('folds what nobody worked in, and leads there and back', () => {
    assert.deepEqual(axis.folds, [{ start: 12_000, end: 72_000 }]);
    assert.ok(axis.length < 25_000);
    fc.assert(
      fc.property(fc.double({ min: 0, max: 80_000, noNaN: true }), (time) => {
        assert.ok(Math.abs(axis.from(axis.to(time)) - time) < 1e-6);
      }),
    );
    assert.ok(
      ticksOf(axis, { from: 0, to: axis.length }, 8).every((tick) => tick <= 12_000 || tick >= 72_000),
    );
  });

  it('is zoomed around a place that stays where it is, and never left', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 5, noNaN: true }),
        fc.double({ min: -50_000, max: 50_000, noNaN: true }),
        (factor, by) => {
          const range = shifted(
            zoomed({ from: 5_000, to: 9_000 }, factor, 6_000, axis.length),
            by,
            axis.length,
          );
          assert.ok(range.from >= 0 && range.to <= axis.length + 1e-6 && range.to > range.from);
        },
      ),
    );
    const { from, to } = zoomed({ from: 5_000, to: 9_000 }, 0.5, 6_000, axis.length);
    assert.equal((6_000 - from) / (to - from), 0.25);
  });
});

it('like calls in a row are one step of the list, until one of them is chosen', () => {
  const bars = (names: string) =>
    [...names].map((name, start) => ({
      kind: name === '-' ? ('request' as const) : ('tool' as const),
      name: name.toLowerCase(),
      said: '',
      status: name === 'S' ? ('error' as const) : ('ok' as const),
      start,
      end: start + 1,
      seq: start,
      input: 0,
      cached: 0,
      output: 0,
      cost_usd: 0,
    }));
  const told = (names: string, chosen: number | null = null) =>
    stepsOf(bars(names), chosen).map(({ from, to, calls }) => `${from}-${to} ${calls}`);
  assert.deepEqual(told('-s-s-s-r'), ['0-0 1', '1-5 3', '6-6 1', '7-7 1']);
  assert.deepEqual(told('s-s'), ['0-0 1', '1-1 1', '2-2 1'], 'two are no repetition');
  assert.deepEqual(told('s-s-S-s').length, 7, 'one that failed stands alone');
  assert.deepEqual(told('sss', 1), ['0-0 1', '1-1 1', '2-2 1']);
  const [main] = unpacked(answer([lane(0, BUSY)]), null).lanes as [Lane];
  assert.equal(repeatOf({ ...main, bars: bars('ss-s-s') }, 1, 2), 's (2–3/4)');
});

it('the agents of a workflow stand under its phases: small ones open, large ones folded, each as a person toggled it', () => {
  const run = { ...lane(0, []), workflow: 'review' };
  const inside = (count: number, phase: string | null, from: number) =>
    Array.from({ length: count }, (_, index) => ({ ...lane(from + index, []), phase }));
  const { lanes } = unpacked(
    answer([run, ...inside(2, 'Plan', 1), ...inside(13, 'Work', 3), ...inside(1, null, 16)]),
    null,
  );
  const told = (...toggled: string[]) =>
    rowsOf(lanes, new Set(toggled)).map((row) =>
      row.type === 'group' ? `${row.name} ${row.lanes.length}` : row.lane.about.name,
    );
  assert.deepEqual(told(), ['main', 'Plan 2', 'reader-1', 'reader-2', 'Work 13', 'reader-16']);
  assert.deepEqual(told('0//Plan').slice(1, 3), ['Plan 2', 'Work 13']);
  assert.equal(told('0//Work').length, 6 + 13);
  assert.equal(rowsOf(lanes, null).length, lanes.length, 'the table has no groups');
});

it('many siblings with like names are one line until it is opened; children stand under their parents', () => {
  const many = Array.from({ length: 20 }, (_, index) => lane(index, []));
  const { lanes } = unpacked(answer([...many, { ...lane(20, [], 3), name: 'tester' }]), null);
  assert.deepEqual(
    rowsOf(lanes, new Set()).map((row) => (row.type === 'group' ? row.lanes.length : row.lane.about.name)),
    ['main', 19],
  );
  const open = rowsOf(lanes, new Set(['0/reader']));
  const names = open.map((row) => (row.type === 'group' ? '…' : row.lane.about.name));
  assert.deepEqual(names.slice(0, 6), ['main', '…', 'reader-1', 'reader-2', 'reader-3', 'tester']);
});
