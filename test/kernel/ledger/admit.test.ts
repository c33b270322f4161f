// Proves the decisions about steps and their consequences at each boundary: what is stale, what a limit allows, and who is told of an end.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { admit } from '../../../src/kernel/ledger/admit.ts';
import { answerAsk } from '../../../src/kernel/ledger/answer-ask.ts';
import { ChangeSet } from '../../../src/kernel/ledger/change-set.ts';
import { create } from '../../../src/kernel/ledger/create-agents.ts';
import type {
  AgentFacts,
  AskFacts,
  MailFacts,
  RunFacts,
  TreeFacts,
} from '../../../src/kernel/ledger/facts.ts';
import { kill } from '../../../src/kernel/ledger/kill.ts';
import { send, takeBack } from '../../../src/kernel/ledger/post-mail.ts';
import { finishRun } from '../../../src/kernel/ledger/run-history.ts';
import type { Refusal, Step } from '../../../src/kernel/step.ts';
import type { Limits } from '../../../src/records/agent/limits.ts';
import type { NewMail } from '../../../src/records/conversation/mail.ts';
import { newAgent } from '../../store/ledger-fixture.ts';
import { agentOf, changes, type Entries, rows, stepOf, treeOf, unitOf } from './ledger-stage.ts';

const LETTER = { from_id: null, kind: 'letter' } as const;
const ROOT = agentOf('root', { depth: 0, living_children: 1 });

function scene(more: Entries = {}, tree = treeOf({ live: 2, total: 2 })): Entries {
  return { tree: { root: tree }, agent: { root: ROOT, kid: agentOf('kid') }, ...more };
}

function offered(entries: Entries, over: Partial<Step>, token: string | null = null, by = 'root') {
  const unit = unitOf(entries);
  const verdict = admit(unit, { step: stepOf(by, over), token });
  return { unit, refusal: verdict.ok ? null : verdict.refusal, verdict };
}

function letter(to_id: string, over: Partial<NewMail> = {}): NewMail {
  const from = { from_id: 'root', from_name: 'root', kind: 'letter', body: 'hi', sent_at: 1 } as const;
  return { id: 'letter-1', root_id: 'root', to_id, ...from, ...over };
}

function kids(count: number): Step['create'] {
  const parent = { id: 'root', root_id: 'root', depth: 0, worker: 'w1' } as never;
  return Array.from({ length: count }, (_, at) => newAgent(parent, { id: `new-${at}` }));
}

it('a step that is not based on the newest state is stale, and so is one that was applied', () => {
  const stale = (over: Partial<Step>, entries = scene(), token: string | null = null) =>
    offered(entries, over, token).refusal?.reason === 'stale';
  assert.equal(stale({}), false);
  assert.deepEqual([stale({ epoch: 2 }), stale({ epoch: 0 })], [true, true]);
  assert.deepEqual([stale({ base_seq: 2 }), stale({ base_seq: 4 })], [true, true]);
  assert.ok(stale({}, scene({ agent: {} })));
  assert.ok(stale({}, scene({ agent: { root: { ...ROOT, status: 'killed' } } })));
  assert.ok(stale({}, scene({}, treeOf({ removal: 'closed' }))));
  const before = scene({ agent: { root: { ...ROOT, last_write: 't' }, 'new-0': agentOf('new-0') } });
  assert.deepEqual([stale({}, before, 't'), stale({}, before, 'u'), stale({}, before)], [true, false, false]);
  assert.ok(stale({ create: kids(1) }, before, 'u'));
  const sent = scene({
    mail: { 'letter-1': { ...LETTER, id: 'letter-1', to_id: 'kid', number: 1, consumed_seq: 4 } },
  });
  assert.ok(stale({ send: [letter('kid')] }, sent, 'u'));
});

it('law 7: a limit counts all agents that one step creates', () => {
  const over = (limits: Partial<Limits>, count: number, more: Entries = {}): Refusal | null =>
    offered(scene(more, treeOf({ live: 2, total: 2 }, limits)), { create: kids(count) }).refusal;
  const refused = (limit: 'depth' | 'children' | 'live' | 'total', allowed: number, present: number) => ({
    reason: 'limit',
    limit,
    allowed,
    present,
  });
  assert.equal(over({ children: 3 }, 2), null);
  assert.deepEqual(over({ children: 3 }, 3), refused('children', 3, 1));
  assert.equal(over({ live: 4 }, 2), null);
  assert.deepEqual(over({ live: 4 }, 3), refused('live', 4, 2));
  assert.equal(over({ total: 4 }, 2), null);
  assert.deepEqual(over({ total: 4 }, 3), refused('total', 4, 2));
  // Depth does not depend on the number of children.
  assert.equal(over({ depth: 1 }, 3), null);
  assert.deepEqual(over({ depth: 0 }, 1), refused('depth', 0, 0));
  // Agents at rest count towards the total, but not as busy.
  assert.equal(over({ children: 3 }, 3, { resting_children: { root: 1 } }), null);
  assert.equal(over({ live: 4 }, 3, { resting_in_tree: { root: 1 } }), null);
  const busy = over({ live: 4 }, 4, { resting_in_tree: { root: 1 } });
  assert.deepEqual(busy, refused('live', 4, 1));
  assert.equal(over({ depth: 0, children: 0, live: 0, total: 0 }, 0), null);
});

it('created agents and usage are counted in the agent and in the tree', () => {
  const usage = { input: 3, output: 5, cached: 2, reasoning: 1, cost_usd: 0.5 };
  const request = { model: 'm', started_at: 1, duration_ms: 1 };
  const requests = [
    { ...request, usage },
    { ...request, usage: { ...usage, cost_usd: null } },
  ];
  const { unit } = offered(scene(), { create: kids(2), requests, calls: 4 });
  const { live, total, tokens, cost_usd } = unit.tree('root') as TreeFacts;
  assert.deepEqual([live, total, tokens, cost_usd], [4, 4, 16, 0.5]);
  const agent = unit.agent('root') as AgentFacts;
  assert.deepEqual([agent.living_children, agent.calls, agent.cost_usd], [3, 4, 0.5]);
  assert.deepEqual(
    [agent.input_tokens, agent.output_tokens, agent.cached_tokens, agent.reasoning_tokens],
    [6, 10, 4, 2],
  );
  assert.equal(rows(unit, 'requests').length, 2);
});

it('letters go to living agents of the same tree, and are consumed once by their recipient', () => {
  const found = (to: string, agent: Partial<AgentFacts> | null) => {
    const agents = agent === null ? { root: ROOT } : { root: ROOT, [to]: agentOf(to, agent) };
    const { refusal } = offered(scene({ agent: agents }), { send: [letter(to)] });
    return refusal?.reason === 'recipient' ? refusal.found : refusal;
  };
  assert.deepEqual(
    [found('x', {}), found('x', null), found('x', { root_id: 'other' }), found('x', { status: 'failed' })],
    [null, 'unknown', 'unknown', 'dead'],
  );
  const made = offered(scene(), { create: kids(1), send: [letter('new-0')] });
  assert.equal(made.refusal, null);
  const reads = (over: object) => {
    const mail = { m: { ...LETTER, id: 'm', to_id: 'root', number: 1, consumed_seq: null, ...over } };
    return offered(scene({ mail }), { consume: [{ mail_id: 'm', seq: 3 }] }).refusal;
  };
  const refusal = { reason: 'consumed', mail_id: 'm' };
  assert.deepEqual(
    [reads({}), reads({ to_id: 'kid' }), reads({ consumed_seq: 2 })],
    [null, refusal, refusal],
  );
});

it('an agent can kill its descendants, not itself, its siblings or its ancestors', () => {
  const agents = {
    root: ROOT,
    kid: agentOf('kid'),
    grandkid: agentOf('grandkid', { parent_id: 'kid' }),
    other: agentOf('other'),
  };
  const below = { kid: ['kid', 'grandkid'], grandkid: ['grandkid'] };
  const kills = (by: string, target: string) =>
    offered(scene({ agent: agents, below }), { kill: [target] }, null, by).refusal?.reason ?? null;
  assert.deepEqual(
    [kills('root', 'kid'), kills('root', 'grandkid'), kills('kid', 'grandkid')],
    [null, null, null],
  );
  assert.deepEqual(
    [kills('kid', 'kid'), kills('kid', 'other'), kills('kid', 'root'), kills('grandkid', 'kid')],
    ['target', 'target', 'target', 'target'],
  );
});

it('law 10: a wait that closes a cycle is refused; existing edges are not checked again', () => {
  const edge = (target: string, until: number | null = null) => ({ target, until });
  const entries = { edges: { kid: [edge('root')] }, reach: { kid: ['kid', 'root'] } };
  const waits = (edges: Entries['edges'], waits_until: Step['waits_until'] = {}) =>
    offered(scene({ ...entries, edges: { ...entries.edges, ...edges } }), { waits_for: ['kid'], waits_until })
      .refusal?.reason ?? null;
  assert.equal(waits({}), 'cycle');
  assert.equal(waits({ kid: [] }), null);
  assert.equal(waits({ root: [edge('kid', 5)] }), 'cycle');
  assert.equal(waits({ root: [edge('kid', 5)] }, { kid: 5 }), null);
});

it('law 10: edges that only moved with the clock are not checked again, whichever of a circle is written first', () => {
  const edge = (target: string, until: number) => ({ target, until });
  const moved = (by_ms: number, moved_ms = by_ms) =>
    offered(
      scene({
        edges: { kid: [edge('root', 15 + by_ms)], root: [edge('kid', 10)] },
        reach: { kid: ['kid', 'root'] },
      }),
      { waits_for: ['kid'], waits_until: { kid: 10 + by_ms }, moved_ms },
    ).refusal?.reason ?? null;
  assert.deepEqual([moved(7_200_000), moved(-7_200_000)], [null, null]);
  assert.equal(moved(7_200_000, 0), 'cycle', 'a wait that is made longer for another reason is a new one');
});

it('a new wait learns which agents have settled before; an existing one does not', () => {
  const met = (kid: AgentFacts | null, more: Entries = {}) => {
    const agent = kid === null ? { root: ROOT } : { root: ROOT, kid };
    const { verdict } = offered(scene({ agent, ...more }), { waits_for: ['kid'] });
    return verdict.ok ? verdict.met : null;
  };
  const idle = agentOf('kid', { status: 'idle' });
  assert.deepEqual([met(agentOf('kid')), met(idle), met(null)], [[], ['kid'], ['kid']]);
  assert.deepEqual(met(agentOf('kid', { status: 'completed' })), ['kid']);
  assert.deepEqual(met(idle, { edges: { root: [{ target: 'kid', until: null }] } }), []);
  const letters = { pending: { kid: [{ id: 'm', kind: 'letter' as const, number: 2 }] } };
  assert.deepEqual(met(idle, letters), []);
  assert.deepEqual(met({ ...idle, noticed: 2 }, letters), ['kid']);
});

it('an end gives up the lease, the place among the children, the waits and the open asks', () => {
  const edges = { kid: [{ target: 'root', until: null }] };
  const entries = scene({ edges, waiters: { kid: ['root'] } });
  const failure = { kind: 'network', error: 'x', retryable: false } as const;
  const { unit } = offered(entries, { state: { type: 'failed', failure }, doing: 'x' }, null, 'kid');
  const kid = unit.agent('kid') as AgentFacts;
  assert.deepEqual([kid.status, kid.worker], ['failed', null]);
  assert.deepEqual([unit.agent('root')?.living_children, unit.tree('root')?.live], [0, 1]);
  assert.deepEqual(rows(unit, 'wait_edges'), [{ waiter: 'kid', target: 'root' }]);
  const row = rows(unit, 'agents').find(({ id }) => id === 'kid');
  assert.deepEqual([row?.ended_at, row?.doing], [500, null]);
});

it('the end of a background run signals each other leader of queued runs once: they may take its place', () => {
  const queued = { kid: ['w2', 'w2', 'w1', 'w3'].map((worker, at) => ({ id: `run-${at}`, worker })) };
  const told = (origin: 'session' | 'delegate', status: 'completed' | 'idle') => {
    const kid = agentOf('kid', { origin });
    const state = status === 'idle' ? ({ type: 'idle' } as const) : { type: status, result: 'done' };
    const { unit } = offered(scene({ agent: { root: ROOT, kid }, queued }), { state }, null, 'kid');
    return rows(unit, 'signals').map(({ worker, about }) => [worker, about]);
  };
  assert.deepEqual(told('session', 'completed'), [
    ['w2', 'kid'],
    ['w3', 'kid'],
  ]);
  assert.deepEqual([told('session', 'idle'), told('delegate', 'completed')], [[], []]);
});

it('a removed child loses its conversation, unless it has children, even new ones', () => {
  const removed = (birth: boolean, more: Entries = {}) => {
    const unit = unitOf(
      scene({ agent: { root: ROOT, kid: agentOf('kid', { status: 'completed' }) }, ...more }),
    );
    const parent = { id: 'kid', root_id: 'root', depth: 1, worker: 'w1' } as never;
    if (birth) create(unit, newAgent(parent, { id: 'late' }));
    admit(unit, { step: stepOf('root', { remove: ['kid'] }), token: null });
    return unit.agent('kid') === null;
  };
  assert.deepEqual([removed(false), removed(true)], [true, false]);
  assert.equal(removed(false, { children: { kid: ['grandkid'] } }), false);
});

it('deaths are reset when the agent rests, not while it works', () => {
  const deaths = (type: 'idle' | 'requesting') => {
    const over = type === 'idle' ? { state: { type } } : {};
    const entries = scene({ agent: { root: { ...ROOT, deaths: 2 } } });
    return offered(entries, over).unit.agent('root')?.deaths;
  };
  assert.deepEqual([deaths('idle'), deaths('requesting')], [0, 2]);
});

it('law 9: a kill ends and fences all descendants, and reports to a living parent that awaits the outcome', () => {
  const agents = {
    root: ROOT,
    kid: agentOf('kid', { origin: 'delegate', living_children: 1, worker: 'w2' }),
    grandkid: agentOf('grandkid', { parent_id: 'kid', origin: 'session' }),
  };
  const entries = scene({ agent: agents, below: { kid: ['kid', 'grandkid'], grandkid: ['grandkid'] } });
  const unit = unitOf({ ...entries, open_asks: { grandkid: ['ask-1'] } });
  assert.deepEqual(kill(unit, 'kid', 'you', 70, 'w1'), ['kid', 'grandkid']);
  for (const id of ['kid', 'grandkid']) {
    const { status, epoch, worker, last_seq } = unit.agent(id) as AgentFacts;
    assert.deepEqual([status, epoch, worker, last_seq], ['killed', 2, null, 4]);
  }
  assert.deepEqual([unit.tree('root')?.live, unit.agent('root')?.living_children], [0, 0]);
  assert.deepEqual(
    rows(unit, 'mail').map(({ id, to_id, kind }) => [id, to_id, kind]),
    [['killed-kid', 'root', 'outcome']],
  );
  assert.deepEqual(
    rows(unit, 'signals').map(({ worker, agent_id, kind }) => [worker, agent_id, kind]),
    [
      ['w2', 'kid', 'killed'],
      ['w1', 'root', 'mail'],
    ],
  );
  assert.deepEqual(rows(unit, 'asks'), [{ id: 'ask-1', verdict: 'void', answered_at: 70 }]);
  const announced = unitOf(entries);
  kill(announced, 'grandkid', 'you', 70, null);
  assert.deepEqual(
    rows(announced, 'mail').map(({ to_id, kind }) => [to_id, kind]),
    [['kid', 'announce']],
  );
  const fork = (status: 'requesting' | 'idle', killer: string | null) => {
    const unit = unitOf(
      scene({ below: { kid: ['kid'] }, agent: { root: ROOT, kid: agentOf('kid', { status }) } }),
    );
    kill(unit, 'kid', 'you', 70, null, killer);
    return rows(unit, 'mail').map(({ to_id, kind, body }) => [to_id, kind, JSON.parse(String(body))]);
  };
  const told = { status: 'idle', success: false, outcome: 'stopped', error: 'Killed by a person' };
  assert.deepEqual(fork('requesting', null), [['root', 'report', told]]);
  assert.deepEqual(fork('requesting', 'another'), [['root', 'report', told]]);
  assert.deepEqual(fork('requesting', 'root'), [], 'its parent knows');
  assert.deepEqual(fork('idle', null), [], 'it has reported already');
  const said = (text: string) => ({ kind: 'assistant' as const, content: words(text) });
  const words = (text: string) => JSON.stringify({ model: 'm', parts: [{ type: 'text', text }] });
  const heard = (origin: string, text: string) => ({
    kind: 'user' as const,
    content: JSON.stringify({ origin, text }),
  });
  const spoken = [said('old'), heard('mail', 'go on'), said('one'), heard('system', 'well?'), said('two')];
  const partialOf = (origin: 'fork' | 'spawn' | 'session') => {
    const agent = { root: ROOT, kid: agentOf('kid', { origin }) };
    const unit = unitOf(
      scene({
        below: { kid: ['kid'] },
        agent,
        spoken: { kid: [{ kind: 'user', content: 'no JSON' }, ...spoken.toReversed()] },
      }),
    );
    kill(unit, 'kid', 'you', 70, null);
    const body = JSON.parse(String(rows(unit, 'mail')[0]?.body));
    return (body.outcome?.partial ?? body.partial) as string;
  };
  assert.deepEqual(
    [partialOf('fork'), partialOf('spawn'), partialOf('session')],
    ['one\n\ntwo', 'old\n\none\n\ntwo', 'old\n\none\n\ntwo'],
    'what it had said by then',
  );
  assert.deepEqual(kill(unitOf(entries), 'nobody', 'you', 70, null), []);
});

it('law 9: a kill signals those who wait for a descendant, not only for the agent itself, and enters those that nobody leads', () => {
  const agent = {
    root: ROOT,
    kid: agentOf('kid', { living_children: 1 }),
    grandkid: agentOf('grandkid', { parent_id: 'kid' }),
    ...Object.fromEntries(['a', 'b'].map((id) => [id, agentOf(id, { worker: `w-${id}` })])),
    c: agentOf('c', { worker: null }),
  };
  const waiters = { kid: ['a'], grandkid: ['b', 'c'] };
  const unit = unitOf(scene({ agent, waiters, below: { kid: ['kid', 'grandkid'] } }));
  kill(unit, 'kid', 'you', 70, 'w1', 'root');
  assert.deepEqual(
    rows(unit, 'signals').map(({ worker, kind, about }) => [worker, kind, about]),
    [
      ['w-a', 'status', 'kid'],
      ['w-b', 'status', 'grandkid'],
    ],
  );
  assert.deepEqual(
    rows(unit, 'unled').map(({ agent_id }) => agent_id),
    ['c'],
  );
});

const KID = { id: 'kid', origin: 'session' } as const;

it('the end of a run goes to each target, once, with its duration', () => {
  const run = (over: Partial<RunFacts> = {}): RunFacts => ({
    ...{ id: 'r', root_id: 'root', agent_id: 'kid', started_at: 20, finished_at: null, cleaned_at: null },
    deliver: JSON.stringify(['telegram:42', 'webhook:ops']),
    ...over,
  });
  const ended = (facts: RunFacts, at = 50) => {
    const unit = unitOf({ run: { kid: facts } });
    finishRun(unit, KID, { state: { type: 'killed', by: 'you' }, at });
    return unit;
  };
  const unit = ended(run());
  finishRun(unit, KID, { state: { type: 'killed', by: 'you' }, at: 60 });
  assert.deepEqual(
    rows(unit, 'deliveries').map(({ id, channel, status, next_at }) => [id, channel, status, next_at]),
    [
      ['run-r-0', 'telegram', 'pending', 50],
      ['run-r-1', 'webhook', 'pending', 50],
    ],
  );
  const took = (facts: RunFacts, at?: number) => rows(ended(facts, at), 'subagent_runs')[0]?.duration_ms;
  assert.deepEqual([took(run()), took(run(), 10), took(run({ started_at: null }))], [30, 0, 0]);
  assert.deepEqual(rows(ended(run({ finished_at: 40 })), 'deliveries'), []);
  const going = unitOf({ run: { kid: run() } });
  finishRun(going, KID, { state: { type: 'idle' }, at: 50 });
  assert.equal(going.changes().rows.size, 0);
});

it('an ask is answered once; the same answer again is a retry', () => {
  const open: AskFacts = {
    ...{ id: 'q', root_id: 'root', agent_id: 'kid' },
    ...{ verdict: null, scope: null, note: null, answered_by: null, answered_at: null },
  };
  const answer = { verdict: 'allow', scope: 'once', note: '', by: 'ann', at: 5 } as const;
  const taken = { ...open, verdict: 'allow', scope: 'once', note: '', answered_by: 'ann', answered_at: 5 };
  const mail = { 'answer-q': { ...LETTER, id: 'answer-q', to_id: 'kid', number: 7, consumed_seq: null } };
  const given = (ask: AskFacts | null, over: object = {}, more: Entries = { mail }) =>
    answerAsk(unitOf(scene({ ask: ask === null ? {} : { q: ask }, ...more })), 'q', { ...answer, ...over });
  assert.equal(given(open, {}, {}).ok, true);
  const again = given(taken);
  assert.ok(again.ok && again.mail.number === 7);
  for (const over of [{ verdict: 'deny' }, { scope: 'agent' }, { note: 'x' }, { by: 'bob' }, { at: 6 }])
    assert.equal(given(taken, over).ok, false, JSON.stringify(over));
  assert.equal(given(taken, {}, {}).ok, false);
  assert.equal(given(null).ok, false);
  assert.equal(given(open, {}, { agent: { kid: agentOf('kid', { status: 'killed' }) } }).ok, false);
  assert.equal(given(open, {}, { tree: { root: treeOf({ removal: 'closed' }) } }).ok, false);
});

it('a letter of a person is taken back from an agent at work that has not read it, and from no other', () => {
  const facts = { ...LETTER, id: 'm', to_id: 'kid', number: 1, consumed_seq: null };
  const taken = (letter: Partial<MailFacts> = {}, kid: Partial<AgentFacts> = {}, asked = ['kid', 'm']) => {
    const mail = { m: { ...facts, ...letter } };
    const at = agentOf('kid', { status: 'executing', ...kid });
    const unit = unitOf(scene({ mail, agent: { kid: at } }));
    const [to_id = '', mail_id = ''] = asked;
    return [takeBack(unit, to_id, mail_id), unit.isPending('m', 'kid')];
  };
  assert.deepEqual(taken(), [true, false]);
  assert.deepEqual(taken({ consumed_seq: 0 }), [true, false], 'a retry after a lost acknowledgement');
  assert.deepEqual(taken({ consumed_seq: 7 }), [false, false]);
  for (const status of ['idle', 'errored', 'killed'] as const)
    assert.deepEqual(taken({}, { status }), [false, true], status);
  for (const letter of [{ from_id: 'root' }, { kind: 'control' }, { kind: 'task' }] as const)
    assert.deepEqual(taken(letter), [false, true], JSON.stringify(letter));
  assert.deepEqual(taken({}, {}, ['root', 'm']), [false, true]);
  assert.deepEqual(taken({}, {}, ['kid', 'other']), [false, true]);
});

it('a letter from outside is stored once, for living agents only', () => {
  const there = {
    mail: { 'letter-1': { ...LETTER, id: 'letter-1', to_id: 'kid', number: 7, consumed_seq: 2 } },
  };
  const sent = (more: Entries) => send(unitOf(scene(more)), letter('kid'));
  const again = sent(there);
  assert.ok(again.ok);
  assert.deepEqual([again.mail.number, again.mail.consumed_seq], [7, 2]);
  const first = sent({});
  assert.ok(first.ok && first.mail.number === 1);
  const found = (more: Entries) => {
    const result = sent(more);
    return result.ok || result.refusal.reason !== 'recipient' ? null : result.refusal.found;
  };
  assert.equal(found({ agent: {} }), 'unknown');
  assert.equal(found({ agent: { kid: agentOf('kid', { status: 'killed' }) } }), 'dead');
  assert.equal(found({ tree: { root: treeOf({ removal: 'closed' }) } }), 'unknown');
});

it('all changes of one row in a transaction are written as one', () => {
  const written = (change: (set: ChangeSet) => void) => {
    const set = new ChangeSet();
    change(set);
    return set.done().rows.get('trees') ?? [];
  };
  const row = { root_id: 'r', live: 1 };
  const later = { root_id: 'r', live: 2 };
  const insert = (set: ChangeSet) => set.insert('trees', row);
  const gone = (set: ChangeSet) => set.delete('trees', { root_id: 'r' });
  const both = (...all: ((set: ChangeSet) => void)[]) =>
    written((set) => {
      for (const one of all) one(set);
    });
  const update = (set: ChangeSet) => set.update('trees', later);
  const replace = (set: ChangeSet) => set.replace('trees', later);
  assert.deepEqual(both(insert, update), [{ type: 'insert', row: later }]);
  assert.deepEqual(both(insert, replace), [{ type: 'insert', row: later }]);
  assert.deepEqual(both(insert, gone), []);
  assert.deepEqual(both(update, gone), [{ type: 'delete', row: { root_id: 'r' } }]);
  assert.deepEqual(both(gone, insert), [{ type: 'replace', row }]);
  assert.deepEqual(both(gone, replace), [{ type: 'replace', row: later }]);
  assert.deepEqual(both(gone, update), [{ type: 'update', row: later }]);
  assert.deepEqual(both(replace, update), [{ type: 'replace', row: later }]);
  assert.deepEqual(
    both(insert, (set) => set.offer('trees', later)),
    [{ type: 'insert', row }],
  );
  assert.deepEqual(
    both(insert, (set) => set.wipe('trees', 'root_id', 'r')),
    [],
  );
  const kept = both(insert, (set) => set.wipe('trees', 'root_id', 's'));
  assert.deepEqual(kept, [{ type: 'insert', row }]);
});

it('changes of different letters stay separate', () => {
  const { unit } = offered(scene(), { send: [letter('kid'), letter('kid', { id: 'letter-2' })] });
  assert.deepEqual(
    rows(unit, 'mail').map(({ id, number }) => [id, number]),
    [
      ['letter-1', 1],
      ['letter-2', 2],
    ],
  );
  assert.deepEqual(changes(unit, 'signals'), []);
});
