// Proves what is derived from an agent's messages: every request once, no overlaps except calls that ran concurrently, no gaps, and the same result however the
// messages are paged.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { RequestRecord } from '../../../src/kernel/step.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { AgentState } from '../../../src/records/agent/state.ts';
import type { Message, PlacedMessage } from '../../../src/records/conversation/message.ts';
import { AgentWalk } from '../../../src/trees/timeline/agent-walk.ts';
import { GAP_MS, type Span } from '../../../src/trees/timeline/span.ts';

const BEGAN = 1_000_000;
const BESIDE = new Set(['read', 'wait', 'fork']);

interface Call {
  readonly name: string;
  readonly ms: number;
}
interface Round {
  /** Milliseconds until the request begins: overhead of the runtime, or time in the queue. */
  readonly queued: number;
  readonly asking: number;
  readonly calls: readonly Call[];
}
interface Turn {
  readonly rest: number;
  readonly rounds: readonly Round[];
  /** Whether the last request fails. */
  readonly fails: boolean;
}

const call = fc.record({
  name: fc.constantFrom('bash', 'read', 'wait', 'fork'),
  ms: fc.integer({ min: 0, max: 5_000 }),
});
const round = fc.record({
  queued: fc.oneof(fc.integer({ min: 0, max: GAP_MS - 1 }), fc.integer({ min: GAP_MS, max: 9_000 })),
  asking: fc.integer({ min: 0, max: 20_000 }),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  rest: fc.oneof(fc.integer({ min: 1, max: GAP_MS - 1 }), fc.integer({ min: GAP_MS, max: 90_000 })),
  rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  fails: fc.boolean(),
});

interface History {
  readonly messages: readonly PlacedMessage[];
  readonly requests: readonly RequestRecord[];
  readonly end: number;
}

/** Returns the messages of these turns, in the order in which the kernel writes them. */
function historyOf(turns: readonly Turn[]): History {
  const messages: PlacedMessage[] = [];
  const requests: RequestRecord[] = [];
  let now = BEGAN;
  const say = (message: Message) =>
    messages.push({ ...message, agent_id: 'a', seq: messages.length + 1, at: now });
  for (const { rest, rounds, fails } of turns) {
    now += rest;
    say({ kind: 'user', content: { origin: 'human', text: 'go on' } });
    for (const [index, { queued, asking, calls }] of rounds.entries()) {
      const is_last = index === rounds.length - 1;
      const usage = { input: asking, output: index, cached: 0, reasoning: 0, cost_usd: asking / 1_000 };
      requests.push({ model: 'play/m', usage, started_at: now + queued, duration_ms: asking });
      now += queued + asking;
      if (is_last && fails) say({ kind: 'event', content: { event: 'error', text: 'broke' } });
      else if (is_last) say({ kind: 'assistant', content: { model: 'play/m', parts: [] } });
      else
        now = runCalls(calls, now, (at, message) => {
          now = at;
          say(message);
        });
    }
  }
  return { messages, requests, end: now };
}

function runCalls(
  calls: readonly Call[],
  began: number,
  say: (at: number, message: Message) => void,
): number {
  const parts = calls.map(({ name }, id) => ({ type: 'call' as const, id: `c${id}`, name, input: '{}' }));
  say(began, { kind: 'assistant', content: { model: 'play/m', parts } });
  let free = began;
  let alone = began;
  const ends = calls.map(({ name, ms }, id) => {
    const start = BESIDE.has(name) ? alone : free;
    const at = start + ms;
    free = Math.max(free, at);
    if (!BESIDE.has(name)) alone = at;
    return { at, id, name };
  });
  for (const { at, id, name } of ends.toSorted((a, b) => a.at - b.at))
    say(at, { kind: 'result', content: { call_id: `c${id}`, name, status: 'ok', output: '{}' } });
  return free;
}

const records = (requests: readonly RequestRecord[]) => ({ requests, asks: [], mail: [] });

function agentAt(state: AgentState, ended_at: number | null = null): Agent {
  return { created_at: BEGAN, origin: 'root', state, ended_at } as unknown as Agent;
}

function spansOf({ messages, requests }: History, pages: readonly number[] = []): readonly Span[] {
  const agent = agentAt({ type: 'idle' });
  const walk = new AgentWalk(agent, (name) => BESIDE.has(name));
  let from = 0;
  for (const size of [...pages, messages.length]) {
    walk.take(messages.slice(from, from + size), records(requests));
    walk.spans(agent, records(requests));
    from += size;
  }
  return walk.spans(agent, records(requests)).spans;
}

it('every request is in exactly one span, with its own times (S1)', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
      const history = historyOf(turns);
      const spans = spansOf(history).filter(({ kind }) => kind === 'request');
      assert.deepEqual(
        spans.map(({ request }) => request),
        history.requests,
      );
      for (const { start, end, request } of spans)
        assert.deepEqual([start, (end ?? 0) - start], [request?.started_at, request?.duration_ms]);
    }),
    { numRuns: 200 },
  );
});

it('nothing overlaps but calls of one message, which begin as the kernel starts them (S2)', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 3 }), (turns) => {
      const spans = spansOf(historyOf(turns)).filter(({ end, start }) => end === null || end > start);
      for (const [index, span] of spans.entries())
        for (const other of spans.slice(index + 1)) {
          if (span.end !== null && other.start >= span.end) continue;
          assert.equal(span.seq, other.seq, `${span.kind} and ${other.kind} overlap`);
          assert.ok(span.call_id !== null && other.call_id !== null);
          assert.ok(BESIDE.has(span.name) && BESIDE.has(other.name), `${span.name} runs alone`);
        }
    }),
    { numRuns: 200 },
  );
});

it('the life of the agent has no gaps: what was neither asked nor run was queued or idle (S3)', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
      let covered = BEGAN;
      for (const { start, end, kind } of spansOf(historyOf(turns))) {
        assert.ok(start - covered < GAP_MS, `nothing from ${covered} to ${start}, before ${kind}`);
        covered = Math.max(covered, end ?? Number.POSITIVE_INFINITY);
      }
      assert.equal(covered, Number.POSITIVE_INFINITY, 'the agent idles now');
    }),
    { numRuns: 200 },
  );
});

it('how the messages are paged changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 6 }),
      (turns, pages) => {
        const history = historyOf(turns);
        assert.deepEqual(spansOf(history, pages), spansOf(history));
      },
    ),
    { numRuns: 100 },
  );
});

it('an approval is its own span: from when the call was due until the answer; then the call runs', () => {
  const history = historyOf([
    {
      rest: 1,
      fails: false,
      rounds: [
        { queued: 0, asking: 10, calls: [{ name: 'bash', ms: 90 }] },
        { queued: 0, asking: 5, calls: [] },
      ],
    },
  ]);
  const due = BEGAN + 11;
  const ask = { call_id: 'c0', asked_at: due, answered_at: due + 60, verdict: 'allow' } as never;
  const walk = new AgentWalk(agentAt({ type: 'idle' }), () => false);
  const terms = { ...records(history.requests), asks: [ask] };
  walk.take(history.messages, terms);
  assert.deepEqual(
    walk
      .spans(agentAt({ type: 'idle' }), terms)
      .spans.slice(1, 3)
      .map(({ kind, start, end }) => [kind, start - due, (end ?? 0) - due]),
    [
      ['approval', 0, 60],
      ['tool', 60, 90],
    ],
  );
});

it('a kill ends what was going on, and nothing comes after it', () => {
  const history = historyOf([
    {
      rest: 1,
      fails: false,
      rounds: [
        { queued: 0, asking: 10, calls: [{ name: 'bash', ms: 90 }] },
        { queued: 0, asking: 5, calls: [] },
      ],
    },
  ]);
  const [user, answer] = history.messages as [PlacedMessage, PlacedMessage];
  const at = answer.at + 40;
  const killed: PlacedMessage = {
    kind: 'event',
    content: { event: 'killed', text: 'kill event' },
    agent_id: 'a',
    seq: 3,
    at,
  };
  const agent = agentAt({ type: 'killed', by: 'you' }, at);
  const walk = new AgentWalk(agent, () => false);
  walk.take([user, answer, killed], records(history.requests.slice(0, 1)));
  const { spans, turns } = walk.spans(agent, records(history.requests.slice(0, 1)));
  const { kind, status, start, end } = spans.at(-1) as Span;
  assert.deepEqual([kind, status, start, end], ['tool', 'cancelled', answer.at, at]);
  assert.deepEqual(turns, [{ start: BEGAN + 1, end: at, seq: 1 }]);
});

it('says what was done: the first words of an answer, the first text of a call', () => {
  const walk = new AgentWalk({ created_at: BEGAN, origin: 'root' }, (name) => BESIDE.has(name));
  const long = `I looked\n  at ${'every file '.repeat(20)}`;
  const parts = [
    { type: 'text', text: long },
    { type: 'call', id: '1', name: 'read', input: '{"limit":3,"path":"/a/db.ts"}' },
    { type: 'call', id: '2', name: 'read', input: '{"path":' },
    { type: 'call', id: '3', name: 'read', input: '{"limit":3}' },
  ] as const;
  const settled = (call_id: string) =>
    ({ kind: 'result', content: { call_id, name: 'read', status: 'ok', output: '' } }) as const;
  const messages: Message[] = [
    { kind: 'user', content: { origin: 'human', text: 'look' } },
    { kind: 'assistant', content: { model: 'play/m', parts } },
    ...['1', '2', '3'].map(settled),
  ];
  const placed = messages.map((message, at) => ({ ...message, agent_id: 'a', seq: at + 1, at: BEGAN + at }));
  walk.take(placed, { requests: [], asks: [], mail: [] });
  const agent = { ended_at: null, state: { type: 'idle' } } as Agent;
  const { spans } = walk.spans(agent, { requests: [], asks: [], mail: [] });
  assert.deepEqual(
    spans.filter(({ kind }) => kind !== 'idle').map(({ name, said }) => `${name}: ${said}`),
    ['play/m: I looked at every file every file every file ev…', 'read: /a/db.ts', 'read: ', 'read: '],
  );
});
