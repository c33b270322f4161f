// Proves when a wait ends and with what, where the next check of a wait that goes on begins, and what an interruption by a person does to it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Decision } from '../../../src/kernel/toolsets/toolset.ts';
import type { EventOf } from '../../../src/kernel/transition/event.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { WaitSpec } from '../../../src/records/agent/state.ts';
import {
  AT_WORK,
  agentOf,
  answer,
  call,
  executing,
  mailOf,
  NOW,
  play,
  resultsOf,
  type Scene,
  toldIn,
  toolOf,
} from './turn-stage.ts';

const LATER = 9_000;
const kid = (id: string, over: Partial<Agent> = {}) =>
  agentOf(id, { parent_id: 'root', origin: 'fork', ...over });
const busy = (id: string) => kid(id, { state: AT_WORK });
const letter = (from_id: string | null, body = `from ${from_id}`) =>
  mailOf('letter', body, { from_id, from_name: `${from_id}` });
const parkedOn = (from: WaitSpec['from'], deadline = LATER, id = 'w1') => ({
  call: call(id, 'wait'),
  wait: { from, deadline },
});

/** The agents that a check looks at, in order, and its result. */
function looks(scene: Scene) {
  const looked: string[] = [];
  const hasMail = ({ id }: Agent) => {
    looked.push(id);
    return false;
  };
  return { looked, made: play({ ...scene, view: { ...scene.view, hasMail } }) };
}

it('a check begins at the agent that kept the wait open last, wraps around, and returns where it stopped', () => {
  const state = executing(parkedOn(['a', 'b', 'c']));
  const others = [kid('a'), kid('b'), busy('c')];
  const first = looks({ agent: { state }, others });
  assert.deepEqual([first.looked, [...first.made.wait_cursors]], [['a', 'b'], [['w1', 2]]]);
  assert.equal(first.made.step, null);
  const at = (cursor: number, all: readonly Agent[]) =>
    looks({ agent: { state }, others: all, led: { wait_cursors: new Map([['w1', cursor]]) } });
  const second = at(2, others);
  assert.deepEqual([second.looked, [...second.made.wait_cursors]], [[], [['w1', 2]]]);
  const round = at(2, [kid('a'), busy('b'), kid('c')]);
  assert.deepEqual([round.looked, [...round.made.wait_cursors]], [['c', 'a'], [['w1', 1]]]);
  const done = at(2, [kid('a'), kid('b'), kid('c')]);
  assert.deepEqual([[...done.made.wait_cursors], resultsOf(done.made).length], [[], 1]);
});

it('a wait for several agents ends when all have answered; letters count and are consumed', () => {
  const others = [kid('a', { reply: 'done' }), busy('b')];
  const waiting = play({ agent: { state: executing(parkedOn(['a', 'b'])) }, others });
  assert.equal(waiting.step, null);
  const mail = [letter('b', 'first'), letter('b', 'second')];
  const made = play({ agent: { state: executing(parkedOn(['a', 'b'])) }, others, mail });
  const [result] = resultsOf(made);
  assert.match(
    result ?? '',
    /^w1: ok: \{"results":\[.*"idle","last_reply":"done".*"received","message":"first"\}\]\}$/,
  );
  assert.deepEqual(
    [[...made.consumed], made.step?.consume],
    [[mail[0]?.id], [{ mail_id: mail[0]?.id, seq: 2 }]],
  );
  assert.deepEqual([made.step?.waits_for, made.step?.waits_until], [[], {}]);
});

it('a wait ends at its deadline, not before, with what is there', () => {
  const scene = (deadline: number) => ({
    agent: { state: executing(parkedOn(['a'], deadline)) },
    others: [busy('a')],
  });
  assert.equal(play(scene(NOW + 1)).step, null);
  const late = play(scene(NOW));
  assert.match(
    resultsOf(late)[0] ?? '',
    /"running"\}\],"timed_out":true,"note":"1 of 1 agents have not answered"\}$/,
  );
  assert.deepEqual([...late.wait_cursors], []);
});

it('a wait for the next message ends with the first letter only, and has no cursor', () => {
  const state = executing(parkedOn(null), parkedOn(null, LATER, 'w2'));
  const none = play({ agent: { state }, others: [busy('a')], mail: [mailOf('event', 'ding')] });
  assert.deepEqual([none.step, [...none.wait_cursors]], [null, []]);
  const mail = [letter('a', 'one'), letter(null, 'two'), letter('a', 'three')];
  const made = play({ agent: { state }, others: [busy('a')], mail });
  const [first, second] = resultsOf(made);
  assert.match(first ?? '', /^w1: ok: .*"message":"one"/);
  assert.match(second ?? '', /^w2: ok: .*"message":"two"/);
  const late = play({ agent: { state: executing(parkedOn(null, NOW)) }, others: [busy('a')] });
  assert.match(
    resultsOf(late)[0] ?? '',
    /^w1: ok: \{"status":"timeout","agents":\[\{"agent_id":"a","name":"a","status":"running"\}/,
  );
});

it('an agent to which this step writes counts as working', () => {
  const sends: Decision = {
    type: 'settle',
    output: 'sent',
    consequences: [{ type: 'deliver-mail', mail: { ...letter('root'), to_id: 'a' } }],
  };
  const park = (from: WaitSpec['from'], deadline: number): Decision => ({
    type: 'park',
    wait: { from, deadline },
  });
  const tools = (deadline: number, from: WaitSpec['from'] = ['a']) => [
    toolOf('send', { decode: () => sends }),
    toolOf('wait', { decode: () => park(from, deadline) }),
  ];
  const scene = { agent: { state: AT_WORK }, others: [kid('a')] };
  const parked = play({ ...scene, tools: tools(LATER) }, answer('', call('c1', 'send'), call('c2', 'wait')));
  assert.deepEqual([parked.parked, resultsOf(parked)], [[{ call_id: 'c2', from: ['a'] }], ['c1: ok: sent']]);
  assert.deepEqual(
    [parked.step?.waits_for, parked.step?.waits_until, parked.step?.doing],
    [['a'], { a: LATER }, 'wait 1 agent'],
  );
  assert.deepEqual(parked.effects, [{ type: 'start-timer', call_id: 'c2', at: LATER }]);
  const other = play(
    { ...scene, others: [kid('a'), kid('b')], tools: tools(LATER, ['b']) },
    answer('', call('c1', 'send'), call('c2', 'wait')),
  );
  assert.deepEqual([other.parked, resultsOf(other).length], [[], 2]);
  const at_once = play({ ...scene, tools: tools(LATER) }, answer('', call('c2', 'wait')));
  assert.deepEqual([at_once.parked, resultsOf(at_once).length], [[], 1]);
  const past = play({ ...scene, others: [busy('a')], tools: tools(NOW) }, answer('', call('c2', 'wait')));
  assert.match(resultsOf(past)[0] ?? '', /"timed_out":true/);
  assert.deepEqual([past.parked, past.effects], [[], [{ type: 'request-model', attempt: 1 }]]);
  const next = play(
    { ...scene, others: [busy('a')], tools: tools(LATER, null) },
    answer('', call('c2', 'wait')),
  );
  assert.deepEqual([next.parked, resultsOf(next)], [[], []]);
  const there = play(
    { ...scene, mail: [letter('a')], tools: tools(LATER, null) },
    answer('', call('c2', 'wait')),
  );
  assert.match(resultsOf(there)[0] ?? '', /"received"/);
});

it('of two waits in one step, the second does not get the letter of the first', () => {
  const state = executing(parkedOn(['a']), parkedOn(['a'], LATER, 'w2'));
  const made = play({ agent: { state }, others: [busy('a')], mail: [letter('a'), letter('b')] });
  assert.deepEqual([resultsOf(made).length, [...made.wait_cursors]], [1, [['w2', 0]]]);
});

const report = (from_id: string, completion: object) =>
  mailOf('report', JSON.stringify({ status: 'idle', ...completion }), { from_id, from_name: from_id });
const words = (summary: string) => ({ success: true, summary });

it('a report ends a wait as the rest of the child: its row has all its words that were not told yet, and they are told once', () => {
  const waitsFor = (
    from: WaitSpec['from'],
    others: readonly Agent[],
    ...mail: ReturnType<typeof mailOf>[]
  ) => {
    const made = play({ agent: { state: executing(parkedOn(from)) }, others, mail });
    const output = resultsOf(made)[0]?.replace(/^w1: ok: /, '');
    const told = output === undefined ? null : JSON.parse(output);
    return { told: told?.results?.[0] ?? told, consumed: [...made.consumed].length };
  };
  const head = { agent_id: 'a', name: 'a' };
  const idle = kid('a', { reply: 'seven' });
  assert.deepEqual(waitsFor(['a'], [idle], report('a', words('seven'))), {
    told: { ...head, status: 'idle', last_reply: 'seven' },
    consumed: 1,
  });
  assert.deepEqual(waitsFor(['a'], [idle], report('a', words('six')), report('a', words('seven'))), {
    told: { ...head, status: 'idle', last_reply: 'six\n\nseven' },
    consumed: 2,
  });
  const failure = { kind: 'network', error: 'no line', retryable: true } as const;
  const failed = { success: false, error: 'no line', partial: 'half' };
  assert.deepEqual(
    waitsFor(['a'], [kid('a', { state: { type: 'errored', failure } })], report('a', failed)),
    {
      told: { ...head, status: 'idle', last_reply: 'half', error: 'no line' },
      consumed: 1,
    },
  );
  assert.deepEqual(
    waitsFor(['a'], [idle], report('a', failed), report('a', words('seven'))).told.last_reply,
    'half\n\nno line\n\nseven',
  );
  const limited = kid('a', { state: { type: 'idle', limit: 'limit reached: 9' } });
  assert.deepEqual(
    waitsFor(['a'], [limited], report('a', { success: false, error: 'limit reached: 9', partial: 'half' }))
      .told,
    {
      ...head,
      status: 'idle',
      last_reply: 'half',
      limit: 'limit reached: 9',
    },
  );
  const dead = kid('a', { state: { type: 'killed', by: 'you' } });
  assert.deepEqual(waitsFor(['a'], [dead], report('a', { success: false, error: 'Killed by you' })), {
    told: { ...head, status: 'dead', error: 'Killed by you' },
    consumed: 1,
  });
  assert.deepEqual(waitsFor(['a'], [busy('a')], report('a', words('seven')), letter('a')).told, {
    ...head,
    status: 'received',
    message: 'from a',
    last_reply: 'seven',
  });
  assert.deepEqual(waitsFor(['a'], [busy('a')], report('a', words('seven'))), { told: null, consumed: 0 });
  const { sent_at: _, ...next } = waitsFor(null, [idle], report('a', words('seven'))).told;
  assert.deepEqual(next, { status: 'idle', ...head, last_reply: 'seven' });
});

it('the words of a report that a wait takes are looked at once', () => {
  const made = play({
    agent: { state: executing(parkedOn(['a'])) },
    others: [kid('a', { reply: '[Did: 9]' })],
    mail: [report('a', words('[Did: 9]'))],
  });
  assert.equal(toldIn(made).filter((text) => text.includes('it imitates')).length, 1);
});

const human = (from: WaitSpec['from'], deadline = LATER) => ({
  type: 'waiting' as const,
  wait: { from, deadline },
  since: 1,
});

it('a wait of a person ends with letters of agents, not of people', () => {
  const own = play({ agent: { state: human(null) }, mail: [letter(null)] });
  assert.equal(own.step, null);
  const made = play({
    agent: { state: human(null) },
    others: [busy('a')],
    mail: [letter(null), letter('a', 'here')],
  });
  assert.match(toldIn(made)[0] ?? '', /^waited: .*"message":"here"/);
  const all = play({ agent: { state: human(['a', 'b']) }, others: [kid('a'), busy('b')] });
  assert.equal(all.step, null);
  const late = play({ agent: { state: human(['a'], NOW) }, others: [busy('a')] });
  assert.match(toldIn(late)[0] ?? '', /^waited: .*"timed_out":true/);
  assert.equal(play({ agent: { state: human(['a'], NOW + 1) }, others: [busy('a')] }).step, null);
  const rest = play({ agent: { state: human(['a']) }, others: [kid('a')] });
  assert.match(toldIn(rest)[0] ?? '', /^waited: \{"results":\[[^\]]*\]\}$/);
});

const CANCEL: EventOf<'cancel'> = { type: 'cancel', at: NOW, by: 'you', reason: 'enough', open: [] };

it('an interrupted wait returns what it has and consumes its letters; streamed text stays', () => {
  const state = executing(parkedOn(['a', 'b']), call('c2'));
  const mail = [letter('a')];
  const made = play(
    { agent: { state }, others: [busy('a'), busy('b')], mail },
    { type: 'event', event: CANCEL },
  );
  const [wait, other] = resultsOf(made);
  assert.match(wait ?? '', /^w1: ok: .*"received".*"interrupted":true/);
  assert.match(other ?? '', /^c2: cancelled/);
  assert.deepEqual(made.step?.consume, [{ mail_id: mail[0]?.id, seq: 2 }]);
  const person = play(
    { agent: { state: human(['a']) }, others: [busy('a')], mail },
    { type: 'event', event: CANCEL },
  );
  assert.match(toldIn(person)[0] ?? '', /^waited: .*"received"/);
  assert.deepEqual([...person.consumed], [mail[0]?.id]);
  assert.match(toldIn(person).join(), /waited: .*mail: A message arrived.*from a/s);
  const said = (request: object | null, text: string) =>
    play({ agent: { state: AT_WORK }, led: { request, said: text } }, { type: 'event', event: CANCEL }).step
      ?.messages[0]?.kind;
  assert.deepEqual([said({}, 'half'), said({}, ' '), said(null, 'half')], ['assistant', 'event', 'event']);
});

type Told = { status?: string; agents?: object[]; results?: object[] };
const told = (scene: Scene): Told | null => {
  const [result] = resultsOf(play(scene));
  return result === undefined ? null : JSON.parse(result.replace(/^w1: ok: /, ''));
};
const waiting = (id: string, from: WaitSpec['from'], deadline = LATER) =>
  kid(id, { state: executing(parkedOn(from, deadline)) });
const without_did = (rows: readonly object[] = []) => rows.map((row) => ({ ...row, did: undefined }));
const rowOf = (id: string, status: string, more: object = {}) => ({
  agent_id: id,
  name: id,
  status,
  ...more,
  did: undefined,
});

it('a wait for the next message ends at once when nobody who could write works; a person does not count', () => {
  const next = (...others: readonly Agent[]) => told({ agent: { state: executing(parkedOn(null)) }, others });
  const failure = { kind: 'network', error: 'no line', retryable: true } as const;
  const ended = next(kid('a', { reply: 'seven' }), kid('b', { state: { type: 'errored', failure } }));
  assert.equal(ended?.status, 'nobody_works');
  assert.deepEqual(without_did(ended?.agents), [
    rowOf('a', 'idle', { last_reply: 'seven' }),
    rowOf('b', 'idle', { error: 'no line' }),
  ]);
  assert.deepEqual(next(), { status: 'nobody_works', agents: [] });
  assert.deepEqual(told({ agent: { state: executing(parkedOn([])) } }), {
    status: 'nobody_works',
    agents: [],
  });
  assert.equal(next(kid('a'), busy('b')), null);
  // Whoever waits goes on by itself only if somebody works, or what it waits for is there.
  assert.deepEqual(without_did(next(waiting('a', ['root']))?.agents), [rowOf('a', 'waits_for_you')]);
  assert.deepEqual(without_did(next(waiting('a', null))?.agents), [
    rowOf('a', 'running', { waits_for: ['anyone'] }),
  ]);
  assert.equal(next(waiting('a', ['b']), waiting('b', ['root']))?.status, 'nobody_works');
  assert.equal(next(waiting('a', ['b']), kid('b')), null);
  assert.equal(next(waiting('a', ['b']), waiting('b', ['a'])), null);
  const hasMail = ({ id }: Agent) => id === 'a';
  assert.equal(
    told({ agent: { state: executing(parkedOn(null)) }, others: [kid('a')], view: { hasMail } }),
    null,
  );
});

it('a wait for agents ends when a person or somebody else writes, or a listed agent asks and waits; a report by letter alone does not', () => {
  const fan = (others: readonly Agent[], ...mail: ReturnType<typeof mailOf>[]) => {
    const made = play({ agent: { state: executing(parkedOn(['a', 'b'])) }, others, mail });
    const [result] = resultsOf(made);
    return result === undefined
      ? null
      : {
          rows: without_did(JSON.parse(result.replace(/^w1: ok: /, '')).results),
          consumed: made.consumed.size,
        };
  };
  const both = [busy('a'), busy('b')];
  const open = [rowOf('a', 'running'), rowOf('b', 'running')];
  assert.equal(fan(both, letter('a')), null);
  assert.equal(fan(both, report('c', words('six'))), null);
  assert.deepEqual(fan([...both, busy('c')], letter('c'), letter('c', 'more')), {
    rows: [...open, rowOf('c', 'waits_for_you', { message: 'from c' })],
    consumed: 1,
  });
  assert.deepEqual(
    fan(both, mailOf('letter', 'stop', { from_id: null, from_name: 'you' }))?.rows.at(-1),
    rowOf('user', 'waits_for_you', { message: 'stop' }),
  );
  for (const asker of [waiting('a', null), waiting('a', ['root'], 2)])
    assert.deepEqual(fan([asker, busy('b')], letter('a', 'which?')), {
      rows: [rowOf('a', 'waits_for_you', { message: 'which?' }), open[1]],
      consumed: 1,
    });
  assert.equal(fan([waiting('a', null), busy('b')]), null);
  assert.equal(fan([waiting('a', ['b']), busy('b')]), null);
});

it('of two agents that wait for each other, the one whose wait would end first is freed at once, and no other', () => {
  const state = (deadline: number) => executing(parkedOn(['a', 'b'], deadline));
  const free = (mine: number, theirs: number, view: Scene['view'] = {}) =>
    told({
      agent: { state: state(mine) },
      others: [waiting('a', ['root'], theirs), waiting('b', ['c']), busy('c')],
      view: { waitersOf: () => ['a', 'gone', 'b'], ...view },
    });
  assert.deepEqual(without_did(free(LATER, LATER + 1)?.results), [
    rowOf('a', 'waits_for_you'),
    rowOf('b', 'running', { waits_for: ['c'] }),
  ]);
  assert.equal(free(LATER + 1, LATER), null);
  // Equal to the millisecond: the ids decide, for both alike.
  assert.equal(free(LATER, LATER), null);
  assert.equal(
    told({
      agent: { state: executing(parkedOn(['z'])) },
      others: [waiting('z', ['root'])],
      view: { waitersOf: () => ['z'] },
    })?.results?.length,
    1,
  );
  // It has been answered already, and is about to go on.
  assert.equal(free(LATER, LATER + 1, { hasMail: ({ id }, from) => id === 'a' && from === 'root' }), null);
});

it('of a circle of three, too, and it learns who waits for it', () => {
  const free = (mine: number, [next, last]: readonly [number, number], view: Scene['view'] = {}) =>
    told({
      agent: { state: executing(parkedOn(['a'], mine)) },
      others: [waiting('a', ['x', 'b'], next), waiting('b', ['root'], last), busy('x')],
      view: { waitersOf: () => ['gone', 'b'], ...view },
    });
  assert.deepEqual(without_did(free(LATER, [LATER + 1, LATER + 2])?.results), [
    rowOf('a', 'running', { waits_for: ['x', 'b'] }),
    rowOf('b', 'waits_for_you'),
  ]);
  for (const others of [
    [LATER - 1, LATER + 2],
    [LATER + 2, LATER - 1],
    [LATER + 1, LATER],
  ] as const)
    assert.equal(free(LATER, others), null);
  // It has been answered already, and is about to go on; and a chain that does not come back is no circle.
  const isHeard = ({ id }: Agent, from?: string) => id === 'a' && from === 'b';
  assert.equal(free(LATER, [LATER + 1, LATER + 2], { hasMail: isHeard }), null);
  assert.equal(free(LATER, [LATER + 1, LATER + 2], { waitersOf: () => [] }), null);
});

it('while one of a circle is about to be freed, a wait for the next message goes on', () => {
  const circle = [waiting('a', ['b']), waiting('b', ['c']), waiting('c', ['a'])];
  const next = (others: readonly Agent[]) => told({ agent: { state: executing(parkedOn(null)) }, others });
  assert.equal(next(circle), null);
  assert.equal(
    next([waiting('a', ['b']), waiting('b', ['c']), waiting('c', ['root'])])?.status,
    'nobody_works',
  );
});

it('an agent whose background run works is not called idle', () => {
  const run = (state: Agent['state']) => agentOf('run', { parent_id: 'a', origin: 'session', state });
  const scene = (...others: readonly Agent[]) => ({ agent: { state: executing(parkedOn(['a'])) }, others });
  assert.equal(told(scene(kid('a'), run(AT_WORK))), null);
  assert.deepEqual(without_did(told(scene(kid('a'), run({ type: 'completed', result: 'x' })))?.results), [
    rowOf('a', 'idle'),
  ]);
});
