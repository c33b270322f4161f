// Proves when a call of a toolset is decided at once, when it is deferred and until what, and what happens to facts that were looked up for it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Decision, Need, NeedAnswer } from '../../../src/kernel/toolsets/toolset.ts';
import { needKey } from '../../../src/kernel/toolsets/toolset.ts';
import { newAgent } from '../../store/ledger-fixture.ts';
import {
  AT_WORK,
  again,
  agentOf,
  answer,
  call,
  executing,
  play,
  resultsOf,
  type Scene,
  toolOf,
} from './turn-stage.ts';

const one = call('c1');
const NOTHING = { look_up: [], needs: [], survey: false };
const creating: Decision = {
  type: 'settle',
  output: 'made',
  consequences: [{ type: 'create-agents', agents: [newAgent(null)] }],
};
const killing: Decision = {
  type: 'settle',
  output: 'ended',
  consequences: [{ type: 'kill-agents', agent_ids: ['x'] }],
};
const refusing = (code: 'LIMIT_REACHED' | 'INVALID_ARG'): Decision => ({
  type: 'refuse',
  code,
  message: 'no',
});

function decided(scene: Scene, ...calls: readonly ReturnType<typeof call>[]) {
  return play({ agent: { state: AT_WORK }, ...scene }, answer('', ...calls));
}

it('a call is decided in the step of its answer, with its arguments', () => {
  const inputs: unknown[] = [];
  const tool = toolOf('tool', {
    decode(input, { id }, view) {
      inputs.push(input, view.message_seq, view.self.state.type, view.newId(), view.newId());
      return { type: 'settle', output: id, consequences: [] };
    },
  });
  const made = decided({ tools: [tool] }, call('c1', 'tool', { n: 1 }));
  assert.deepEqual(inputs, [{ n: 1 }, 2, 'executing', 'id-0', 'id-1']);
  assert.deepEqual(resultsOf(made), ['c1: ok: c1']);
  assert.deepEqual([made.step?.calls, made.effects], [1, [{ type: 'request-model', attempt: 1 }]]);
});

it('what an escape in its arguments stands for is made storable', () => {
  const inputs: unknown[] = [];
  const tool = toolOf('tool', {
    decode(input) {
      inputs.push(input);
      return { type: 'settle', output: '', consequences: [] };
    },
  });
  decided(
    { tools: [tool] },
    call('c1', 'tool', String.raw`{"a\u0000":["b\u0000",{"c":"\ud83d"}],"d":"\u00fc"}`),
  );
  assert.deepEqual(inputs, [{ 'a\u2400': ['b\u2400', { c: '\ufffd' }], d: 'ü' }]);
});

it('refuses arguments that are not JSON, and a call that the ledger refused before', () => {
  const tools = [toolOf('tool', { decode: () => assert.fail('it is not decided') })];
  const [broken] = resultsOf(decided({ tools }, call('c1', 'tool', '{')));
  assert.match(broken ?? '', /^c1: error: .*INVALID_ARG.*the arguments of tool are not valid JSON/);
  const overrides = new Map([['c1', { code: 'WOULD_DEADLOCK' as const, message: 'a circle' }]]);
  const [refused] = resultsOf(decided({ tools, led: { overrides } }, one));
  assert.equal(refused, 'c1: error: {"error":{"code":"WOULD_DEADLOCK","message":"tool: a circle"}}');
});

it('a refused call says why, as a fact beside its result: refused by the tool, for its arguments, or by its own output', () => {
  const tools = [
    toolOf('whole', { decode: () => refusing('LIMIT_REACHED') }),
    toolOf('own', {
      decode: () => ({
        type: 'settle',
        output: '{"status":"forbidden"}',
        refused: 'too deep',
        consequences: [],
      }),
    }),
    toolOf('fine'),
  ];
  const made = decided(
    { tools },
    call('c1', 'whole'),
    call('c2', 'own'),
    call('c3', 'fine', '{'),
    call('c4', 'fine'),
  );
  const facts = new Map(
    (made.step?.messages ?? []).flatMap(({ kind, content }) =>
      kind === 'result' ? [[content.call_id, [content.status, content.facts]]] : [],
    ),
  );
  assert.deepEqual(facts.get('c1'), ['error', { refused: 'no' }]);
  assert.deepEqual(facts.get('c2'), ['ok', { refused: 'too deep' }]);
  const [status, said] = (facts.get('c3') ?? []) as [string?, { refused?: string }?];
  assert.equal(status, 'error');
  assert.match(said?.refused ?? '', /JSON/);
  assert.deepEqual(facts.get('c4'), ['ok', undefined]);
});

it('the reason that is kept of a refused call is cut, and storable', () => {
  const tools = [
    toolOf('tool', {
      decode: () => ({ type: 'refuse', code: 'INVALID_ARG', message: `\0\ud800${'x'.repeat(5_000)}` }),
    }),
  ];
  const [kept = ''] = (decided({ tools }, one).step?.messages ?? []).flatMap(({ kind, content }) =>
    kind === 'result' ? (content.facts?.refused ?? []) : [],
  );
  assert.equal(kept.length, 1_000);
  assert.ok(kept.isWellFormed() && !kept.includes('\0'));
});

it('whatever a call throws is an error result of that call only', () => {
  for (const thrown of [new Error('boom'), 'boom', Object.create(null)]) {
    const decode = () => {
      throw thrown;
    };
    const made = decided({ tools: [toolOf('tool', { decode }), toolOf('good')] }, one, call('c2', 'good'));
    const [failed, good] = resultsOf(made);
    assert.match(failed ?? '', /^c1: error: .*INTERNAL.*tool failed inside Coppice: (boom|an error)/);
    assert.equal(good, 'c2: ok: fine');
  }
});

it('an exception after the call was decided ends the turn, since it is unknown what was done', () => {
  const decode = (): Decision => ({
    type: 'settle',
    output: 'fine',
    consequences: [{ type: 'consume-mail', mail_ids: null as never }],
  });
  const { step } = decided({ tools: [toolOf('tool', { decode })] }, one);
  assert.deepEqual([step?.state.type, step?.create, step?.calls], ['errored', [], 0]);
});

it('after a creation, other calls wait for the commit, while further creations join the step; after a kill all calls wait', () => {
  const tools = [
    toolOf('create', { creates: ({ n }: { n?: number }) => n !== 0, decode: () => creating } as never),
    toolOf('look'),
    toolOf('kill', { decode: () => killing }),
  ];
  const made = decided(
    { tools },
    call('c1', 'create'),
    call('c2', 'create'),
    call('c3', 'look'),
    call('c4', 'create', { n: 0 }),
  );
  assert.deepEqual(resultsOf(made), ['c1: ok: made', 'c2: ok: made']);
  assert.deepEqual(made.deferred, [
    { call: call('c3', 'look'), ...NOTHING },
    { call: call('c4', 'create', { n: 0 }), ...NOTHING },
  ]);
  const killed = decided({ tools }, call('c1', 'kill'), call('c2', 'create'));
  assert.deepEqual(killed.deferred, [{ call: call('c2', 'create'), ...NOTHING }]);
  assert.deepEqual(killed.step?.kill, ['x']);
});

it('a step reads only one call with a schema', () => {
  const schema = { output_schema: {} };
  const calls = [call('c1', 'tool', schema), call('c2', 'tool', schema), call('c3', 'tool')];
  const made = decided({ tools: [toolOf('tool')] }, ...calls);
  assert.deepEqual(resultsOf(made), ['c1: ok: fine', 'c3: ok: fine']);
  assert.deepEqual(made.deferred, [{ call: calls[1], ...NOTHING }]);
});

it('a call that comes last is decided after the others, wherever it stands, and waits for deferred ones', () => {
  const tools = [
    toolOf('last', { comes_last: true }),
    toolOf('tool'),
    toolOf('named', { mentions: () => ['kid'] }),
  ];
  const order = resultsOf(decided({ tools }, call('c1', 'last'), call('c2', 'tool')));
  assert.deepEqual(order, ['c2: ok: fine', 'c1: ok: fine']);
  const made = decided({ tools }, call('c1', 'last'), call('c2', 'named'));
  assert.deepEqual(made.deferred, [
    { call: call('c2', 'named'), ...NOTHING, look_up: ['kid'] },
    { call: call('c1', 'last'), ...NOTHING, last: true },
  ]);
});

it('an unknown name is looked up once; where other processes lead agents, calls that look at agents read the ledger first', () => {
  const tools = [toolOf('tool', { mentions: () => ['kid', '', 'root'] })];
  assert.deepEqual(decided({ tools }, one).deferred, [{ call: one, ...NOTHING, look_up: ['kid'] }]);
  assert.deepEqual(decided({ tools, led: { looked_up: new Set(['kid']) } }, one).deferred, []);
  const shared = { view: { shared: true }, led: { looked_up: new Set(['kid']) } };
  assert.deepEqual(decided({ tools, ...shared }, one).deferred, [{ call: one, ...NOTHING, survey: true }]);
  const surveyed = { ...shared, led: { ...shared.led, surveyed: new Set(['c1']) } };
  assert.deepEqual(decided({ tools, ...surveyed }, one).deferred, []);
  const survey = (over: object) => decided({ tools: [toolOf('tool', over)], ...shared }, one).deferred.length;
  assert.deepEqual(
    [survey({}), survey({ surveys: true }), survey({ surveys: true, creates: true })],
    [0, 1, 0],
  );
});

it('a limit counts as reached only after all agents were read from the ledger', () => {
  const tools = [toolOf('tool', { creates: true, decode: () => refusing('LIMIT_REACHED') })];
  const deferred = (view: object, surveyed: readonly string[] = [], decode = tools) =>
    decided({ tools: decode, view, led: { surveyed: new Set(surveyed) } }, one).deferred;
  assert.deepEqual(deferred({ shared: true }), [{ call: one, ...NOTHING, survey: true }]);
  assert.deepEqual(deferred({ shared: true }, ['c1']), []);
  assert.deepEqual(deferred({ shared: false }), []);
  const invalid = [toolOf('tool', { decode: () => refusing('INVALID_ARG') })];
  assert.deepEqual(deferred({ shared: true }, [], invalid), []);
});

const model: Need = { type: 'model', name: 'm' };
const worktree: Need = { type: 'worktree', base: '/', id: 'w' };
const made_tree = { path: '/w', branch: 'b', base: 'c' };

it('needs are resolved before the call is decided; a worktree is created when everything else is admitted', () => {
  const seen: NeedAnswer[] = [];
  const tool = toolOf('tool', {
    needs: () => [model, worktree],
    decode(_input, _call, view) {
      seen.push(view.answer(model), view.answer(worktree));
      return { type: 'settle', output: 'fine', consequences: [] };
    },
  });
  const tools = [tool];
  assert.deepEqual(decided({ tools }, one).deferred, [{ call: one, ...NOTHING, needs: [model] }]);
  const good: NeedAnswer = { ok: true, text: 'm' };
  const half = decided({ tools, led: { answers: new Map([[needKey(model), good]]) } }, one);
  assert.deepEqual(half.deferred, [{ call: one, ...NOTHING, needs: [worktree] }]);
  assert.deepEqual([half.answered, resultsOf(half)], [[], []]);
  assert.deepEqual(seen, [good, { ok: true, text: '', worktree: { path: '', branch: '', base: '' } }]);
  const there: NeedAnswer = { ok: true, text: '/w', worktree: made_tree };
  const answers = new Map([
    [needKey(model), good],
    [needKey(worktree), there],
  ]);
  const whole = decided({ tools, led: { answers } }, one);
  assert.deepEqual([whole.deferred, whole.unused], [[], []]);
  assert.deepEqual(whole.answered, [needKey(model), needKey(worktree)]);
  assert.deepEqual(seen.slice(2), [good, there]);
  const refused = [{ ...tool, decode: () => refusing('INVALID_ARG') }];
  const none = decided({ tools: refused, led: { answers } }, one);
  assert.deepEqual([none.answered, none.unused], [[needKey(model), needKey(worktree)], [made_tree]]);
  const unmade = decided({ tools: refused, led: { answers: new Map([[needKey(model), good]]) } }, one);
  assert.deepEqual([unmade.deferred, unmade.unused], [[], []]);
});

it('a need that was not resolved is answered with an error', () => {
  const seen: NeedAnswer[] = [];
  const decode = (_input: unknown, _call: unknown, view: { answer: (need: Need) => NeedAnswer }) => {
    seen.push(view.answer(model));
    return refusing('INVALID_ARG');
  };
  decided({ tools: [toolOf('tool', { decode })] }, one);
  assert.deepEqual(seen, [{ ok: false, error: 'it could not be looked up' }]);
});

it('a call that was stopped or parked meanwhile is not decided; resolved needs are discarded', () => {
  const tools = [toolOf('tool', { needs: () => [worktree], decode: () => assert.fail('it is not decided') })];
  const answers = new Map<string, NeedAnswer>([
    [needKey(worktree), { ok: true, text: '/w', worktree: made_tree }],
  ]);
  const parked = { call: one, wait: { from: ['kid'], deadline: 5_000 } };
  const kid = agentOf('kid', { state: AT_WORK, parent_id: 'root' });
  const ask = { call: one, ask: { id: 'a', at: 1 } };
  const child = { call: one, child: 'kid' };
  for (const state of [
    { type: 'idle' } as const,
    executing(parked),
    executing(ask),
    executing(child),
    executing(call('c2')),
  ]) {
    const made = play({ agent: { state }, tools, others: [kid], led: { answers } }, again(one));
    assert.deepEqual(
      [made.step, made.unused, made.answered],
      [null, [made_tree], [needKey(worktree)]],
      state.type,
    );
  }
  const broken = play({ tools, led: { answers } }, again(call('c1', 'tool', '{')));
  assert.deepEqual([broken.unused, broken.answered], [[], []]);
  const unknown = play({ led: { answers } }, again(one));
  assert.deepEqual([unknown.step, unknown.unused], [null, []]);
});

it('a call waits for the child that it creates; calls of other tools are effects', () => {
  const decode = (): Decision => ({ type: 'delegate', child: 'kid', consequences: [] });
  const made = decided({ tools: [toolOf('tool', { decode })] }, one, call('c2', 'bash'));
  assert.deepEqual(made.effects, [{ type: 'run-call', call: call('c2', 'bash') }]);
  const { state } = made.step ?? {};
  assert.deepEqual(state?.type === 'executing' && state.running.map(({ child }) => child), [
    'kid',
    undefined,
  ]);
  assert.deepEqual([made.step?.waits_for, made.step?.doing], [['kid'], 'tool +1']);
});

it('a call sees agents created earlier in the step, and which agents rest', () => {
  const seen: number[][] = [];
  const decode: Parameters<typeof toolOf>[1] = {
    creates: true,
    decode(_input, _call, { tree, living_children, resting }) {
      seen.push([tree.live, tree.total, living_children, resting('children'), resting('tree')]);
      return creating;
    },
  };
  const others = [
    agentOf('a', { parent_id: 'root' }),
    agentOf('b', { parent_id: 'root', state: AT_WORK }),
    agentOf('c', { parent_id: 'a' }),
    agentOf('d', { parent_id: 'root', state: { type: 'killed', by: 'you' } }),
  ];
  decided({ tools: [toolOf('tool', decode)], others }, one, call('c2'));
  assert.deepEqual(seen, [
    [1, 1, 2, 1, 2],
    [2, 2, 3, 1, 2],
  ]);
});
