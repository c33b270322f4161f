// Proves what a new agent takes from its profile, its options and its parent, and what is refused before anything is created.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { childConfig } from '../../../src/kernel/toolsets/acts/child-config.ts';
import { programOf } from '../../../src/kernel/toolsets/acts/delegate-input.ts';
import { forkAgent, forkNeeds } from '../../../src/kernel/toolsets/acts/fork-agent.ts';
import { checkTask } from '../../../src/kernel/toolsets/acts/task-options.ts';
import { fanoutToolset } from '../../../src/kernel/toolsets/fanout.ts';
import { schemasFault } from '../../../src/kernel/toolsets/output-schema.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { Profile } from '../../../src/records/agent/profile.ts';
import { CONFIG, termsOf } from '../../store/ledger-fixture.ts';
import { profileOf } from './profile-fixture.ts';
import { requester, viewOf } from './toolset-view.ts';

const PLAN = {
  id: 'kid',
  name: 'kid',
  terms: {},
  key: 'call',
  inherits: true,
  prompt: 'work',
  text: (prompt: string | null) => `you are: ${prompt}`,
  output: () => 'made',
};
const SPAWNED = termsOf();
const profiles = (...all: readonly Profile[]) => ({ profiles: new Map(all.map((one) => [one.name, one])) });

function forked(profile: Profile, over: Parameters<typeof viewOf>[2] = {}) {
  const decision = forkAgent(viewOf(requester(), profiles(profile), over), {
    ...PLAN,
    terms: { profile: profile.name },
  });
  if (decision.type === 'refuse') return `${decision.code} ${decision.message}`;
  assert.ok(decision.type === 'settle' && decision.consequences[0]?.type === 'create-agents');
  return decision.consequences[0].agents[0]?.agent;
}

it('a fork with a profile of another model waits until that model is checked; one with the same model does not', () => {
  const self = requester();
  const other = profileOf({ name: 'other', model: 'fake/other' });
  const same = profileOf({ name: 'same', model: self.config.model });
  const terms = { ...DEFAULT_TERMS, ...profiles(other, same, profileOf({ name: 'plain' })) };
  assert.deepEqual(forkNeeds({ profile: 'other' }, 'call', self, terms), [
    { type: 'model', name: 'fake/other' },
  ]);
  for (const profile of ['same', 'plain', 'nobody', null])
    assert.deepEqual(forkNeeds({ profile }, 'call', self, terms), []);
  const answer = () => ({ ok: false as const, error: 'there is no such model' });
  assert.equal(forked(other, { answer }), 'NOT_AVAILABLE field "model": there is no such model');
  for (const made of [forked(other), forked(same, { answer })]) assert.ok(typeof made === 'object');
});

it('a fork has the name of its profile in its session key, may rest at first, and is refused where the tree is full', () => {
  const made = forked(profileOf({ name: 'reader', system: 'read' }));
  assert.ok(typeof made === 'object');
  assert.deepEqual(
    [made.session_key, made.config.system, made.config.profile],
    ['agent:reader:fork:kid', 'read', 'reader'],
  );
  const states = [true, false].map((rests) => {
    const decision = forkAgent(viewOf(), { ...PLAN, rests });
    assert.ok(decision.type === 'settle' && decision.consequences[0]?.type === 'create-agents');
    return decision.consequences[0].agents[0]?.agent.state.type;
  });
  assert.deepEqual(states, ['idle', 'requesting']);
  assert.match(`${forked(profileOf({}), { living_children: 1_000_000 })}`, /^LIMIT_REACHED/);
  const missing = forkAgent(viewOf(requester(), profiles(profileOf({}))), {
    ...PLAN,
    terms: { profile: 'nobody' },
  });
  assert.ok(missing.type === 'refuse' && /no profile "nobody". Profiles: some\./.test(missing.message));
});

it('restrictions of profiles add up from parent to child, and the toolsets of a profile replace those of the parent', () => {
  const rules = (deny: string) => ({ allow: [], ask: [], deny: [deny] });
  const first = childConfig(CONFIG, {
    profile: profileOf({ permissions: rules('bash'), toolsets: ['slash'] }),
  });
  const second = childConfig(first, { profile: profileOf({ permissions: rules('write') }) });
  const third = childConfig(second, { profile: profileOf({}) });
  assert.deepEqual(third.permissions, { ...CONFIG.permissions, narrowed: [rules('bash'), rules('write')] });
  assert.deepEqual([first.toolsets, third.toolsets], [['slash'], ['slash']]);
  assert.deepEqual(CONFIG.permissions.narrowed, undefined);
});

it('a fork in a worktree keeps what its parent must prove, and what a run on a timer may not', () => {
  const parent = {
    ...CONFIG,
    profile: 'tested',
    require: ['bash:npm test exit 0'],
    task: termsOf({ kind: 'cron' }),
  };
  const fork = childConfig(parent, { profile: null, cwd: '/elsewhere' });
  assert.deepEqual([fork.require, fork.task, fork.profile], [parent.require, parent.task, 'tested']);
  const spawned = childConfig(parent, { profile: null, task: termsOf({ kind: 'session' }) });
  assert.deepEqual([spawned.require, spawned.task?.kind], [undefined, 'session']);
});

it('a delegation uses the named server and agent, else the configured defaults', () => {
  const known = (over: object) => ({ delegation: { ...DEFAULT_TERMS.delegation, ...over } });
  const model = (input: object, over: object) => {
    const program = programOf(input, known(over));
    return program.ok ? program.model : program.error;
  };
  assert.match(model({}, {}), /no ACP server is configured/);
  assert.match(model({ serverName: 'x' }, {}), /no ACP server is configured/);
  const both = { servers: ['one', 'two'], default_agent: 'wren' };
  assert.equal(model({}, both), 'acp:one/wren');
  assert.equal(model({}, { ...both, default_server: 'two' }), 'acp:two/wren');
  assert.equal(model({ serverName: 'one' }, { ...both, default_server: 'two' }), 'acp:one');
  assert.equal(model({ serverName: 'two', agentId: 'owl' }, both), 'acp:two/owl');
  assert.equal(model({}, { default_server: 'alone' }), 'acp:alone');
  assert.match(model({ serverName: 'three' }, both), /no ACP server "three". Servers: one, two\./);
});

it('a task works in the folder of its worktree that corresponds to its own, else at the top', () => {
  const self = requester({ config: { ...CONFIG, cwd: '/repo' } });
  const worktree = { path: '/trees/a', branch: 'b', base: 'c' };
  const place = (cwd: string | null) => {
    const view = viewOf(
      self,
      {},
      {
        answer: (need) =>
          need.type === 'worktree' ? { ok: true, text: '', worktree } : { ok: true, text: cwd ?? '' },
      },
    );
    const checked = checkTask('do', { cwd, worktree: true }, 'key', null, view);
    assert.ok(checked.type === 'checked');
    return checked.cwd;
  };
  assert.deepEqual(
    [place('/repo/sub'), place('/repo'), place('/repository'), place(null)],
    ['/trees/a/sub', '/trees/a', '/trees/a', '/trees/a'],
  );
});

it('only a person can choose a scripted model; children of an agent that has it inherit it', () => {
  const check = (model: string, own: string) => {
    const view = viewOf(requester({ config: { ...CONFIG, model: own } }));
    const checked = checkTask('do', { model }, 'key', model, view);
    return checked.type === 'checked' ? 'good' : checked.message;
  };
  assert.match(check('scripted:/etc/passwd', 'fake/m'), /field "model": only a person/);
  assert.equal(check('scripted:a', 'scripted:a'), 'good');
  assert.equal(check('fake/n', 'fake/m'), 'good');
});

it('the sizes of different schemas of one call are added up, and a shared one counts once', () => {
  const schema = (n: number) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`field_${n}_${at}`, { type: 'string', maxLength: at + 1 }]),
    ),
  });
  const one = schema(0);
  assert.equal(schemasFault(Array(50).fill(one)), null);
  assert.match(schemasFault(Array.from({ length: 50 }, (_, n) => schema(n))) ?? 'none', /too large together/);
  assert.equal(schemasFault([]), null);
  const tool = fanoutToolset.tools.find(({ spec }) => spec.name === 'spawn_agents');
  const call = { id: 'c', name: 'spawn_agents', input: '', side_by_side: false, idempotent: true };
  const tasks = Array.from({ length: 8 }, (_, n) => ({ task: 't', output_schema: schema(n) }));
  const decision = tool?.decode({ tasks }, call, viewOf());
  assert.ok(
    decision?.type === 'refuse' && /too large together/.test(decision.message),
    JSON.stringify(decision),
  );
  const shared = tasks.map((task) => ({ ...task, output_schema: one }));
  assert.equal(tool?.decode({ tasks: shared }, call, viewOf())?.type === 'refuse', false);
});

it('only a child of a fan-out can submit; it is told what is wrong with its submission', () => {
  for (const name of ['submit_result', 'submit_error']) {
    const tool = fanoutToolset.tools.find(({ spec }) => spec.name === name);
    const call = { id: 'c', name, input: '', side_by_side: false, idempotent: true };
    const inputs = [{ error: 'e', result: 'r' }, {}];
    for (const input of inputs) {
      const decision = tool?.decode(input, call, viewOf());
      assert.ok(decision?.type === 'refuse' && decision.code === 'NOT_AVAILABLE', JSON.stringify(decision));
    }
    const config = childConfig(CONFIG, { profile: null, task: SPAWNED });
    const child = requester({ origin: 'spawn', config });
    const faulty = tool?.decode({}, call, viewOf(child));
    assert.ok(faulty?.type === 'refuse' && faulty.code === 'INVALID_ARG', JSON.stringify(faulty));
  }
});
