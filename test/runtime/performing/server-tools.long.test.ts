/**
 * Proves that tools of MCP servers work like all others: used by several agents at once, under rules and with approvals for the tool that actually runs,
 * selected by profiles, unchanged within a conversation, and never run twice.
 */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { AgentConfig } from '../../../src/records/agent/agent.ts';
import { closeOpened } from '../../close-opened.ts';
import { serverConfig, testingHost } from '../../tools/mcp-servers/servers.ts';
import { until } from '../../until.ts';
import { approvalStage } from '../permissions/approval-stage.ts';
import { type Scene, type StageOptions, setStage } from '../stage.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

function withServer(behaviour: object = {}, config: Partial<AgentConfig> = {}): Partial<StageOptions> {
  const host = testingHost({ servers: { t: serverConfig(behaviour) } });
  return { openServers: async () => host, config: { tools: ['t__*'], ...config } };
}

const outputs = ({ last }: Scene): readonly string[] => last.map(({ output }) => output);

it('three agents use one server at once', async () => {
  const on = await setStage(
    ({ name, step, parent_id, results }) => {
      if (name === 'main')
        return step === 0
          ? ['a', 'b', 'c'].map((child) => ['fork', { name: child, prompt: 'work' }])
          : step === 1
            ? [
                [
                  'wait',
                  { timeout: 60, from_agents: results.map(({ output }) => JSON.parse(output).agent_id) },
                ],
              ]
            : 'done';
      if (step === 0)
        return [
          ['t__pid', {}],
          ['t__echo', { text: name }],
          ['t__work', { steps: 3, ms: 20 }],
        ];
      if (step === 1)
        return [['send', { to: parent_id, message: results.map(({ output }) => output).join(' ') }]];
      return 'done';
    },
    withServer({}, { tools: ['t__*'] }),
  );
  await on.perform();
  const said = await Promise.all(['a', 'b', 'c'].map(async (name) => on.results(await on.agent(name))));
  const pids = new Set(said.map(([pid]) => pid?.output));
  assert.equal(pids.size, 1);
  assert.deepEqual(
    said.map(([, echo, work]) => [echo?.output, work?.output]),
    [
      ['a', 'worked'],
      ['b', 'worked'],
      ['c', 'worked'],
    ],
  );
  const seen = new Set(on.requests.map(({ tools }) => JSON.stringify(tools)));
  assert.equal(seen.size, 1, 'every request has the same tools');
});

it('rules allow and deny them by name and pattern, also where another tool calls them', async () => {
  const on = await setStage(
    (scene) =>
      scene.step === 0
        ? [
            ['t__echo', { text: 'a' }],
            ['t__pid', {}],
            ['t__echo', { text: 'secret' }],
            ['call_tool', { name: 't__echo', arguments: { text: 'secret' } }],
            ['call_tool', { name: 't__fail' }],
            ['call_tool', { name: 't__echo', arguments: { text: 'b' } }],
            ['nothing__here', {}],
          ]
        : outputs(scene).join('\n'),
    withServer(
      {},
      {
        permissions: {
          cli: { allow: ['t__e*'], ask: [], deny: ['t__echo:*secret*', 't__fail'] },
          config: NONE,
        },
      },
    ),
  );
  await on.perform();
  const [echo, pid, secret, hidden, fail, called, nothing] = await on.results(await on.agent('main'));
  assert.equal(echo?.output, 'a');
  assert.match(pid?.output ?? '', /t__pid needs approval \(ask\(t__pid\), the default\)/);
  for (const one of [secret, hidden]) assert.match(one?.output ?? '', /t__echo was denied by the rule/);
  assert.match(fail?.output ?? '', /t__fail was denied by the rule deny\(t__fail\)/);
  assert.equal(called?.output, 'b');
  assert.match(nothing?.output ?? '', /there is no tool "nothing__here"/);
});

it('a person is asked about the tool that runs, and a grant is about it', async () => {
  const on = await approvalStage(
    (scene) =>
      scene.step === 0
        ? [['call_tool', { name: 't__extra_3', arguments: '{"number": 7}' }]]
        : scene.step === 1
          ? [
              ['t__extra_3', { number: 8 }],
              ['call_tool', { name: 't__extra_4', arguments: { number: 1 } }],
            ]
          : 'done',
    undefined,
    withServer({ extra: 40 }, { permissions: { cli: NONE, config: NONE } }),
  );
  const root = await on.start();
  const [first] = await on.asked(root);
  assert.deepEqual(
    [first?.tool, first?.subject, first?.input],
    ['t__extra_3', '{"number":7}', '{"number":7}'],
  );
  await on.allow(first, 'session', 't__extra_3');
  const asks = async () => (await on.store.asks({ root_id: root.id, open: true })).map(({ tool }) => tool);
  await until(async () => (await asks()).includes('t__extra_4'), 'the second question');
  const [second] = await on.asked(root);
  await on.deny(second, 'not that one');
  await on.runtime.settled(root.id);
  const results = await on.results(await on.agent('main'));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['ok', 'ok', 'denied'],
  );
  assert.equal(results[0]?.output, 'extra_3 {"number":7}');
});

it('an approval outlives the process that asked, and the server is started for it', async () => {
  const play = (scene: Scene) => (scene.step === 0 ? ([['t__echo', { text: 'late' }]] as const) : 'done');
  const options = withServer({}, { permissions: { cli: NONE, config: NONE } });
  const on = await approvalStage(play, undefined, options);
  const root = await on.start();
  const [ask] = await on.asked(root);
  const again = await on.reopen(play, { ...withServer(), can_ask: true });
  await again.runtime.resume(root.id);
  await again.runtime.answer(ask?.id ?? '', { verdict: 'allow', scope: 'once', note: '' });
  await again.runtime.settled(root.id);
  assert.equal((await again.results(await again.agent('main')))[0]?.output, 'late');
});

it('a call that was running when its process died is not run again, whether its tool was described or not', async () => {
  for (const behaviour of [{}, { extra: 40 }]) {
    const play = (scene: Scene) => (scene.step === 0 ? ([['t__hang', {}]] as const) : 'done');
    const on = await setStage(play, withServer(behaviour));
    const root = await on.start();
    await until(async () => (await on.agent('main')).state.type === 'executing', 'the call runs');
    const again = await on.reopen(play, withServer(behaviour));
    await again.runtime.resume(root.id);
    await again.runtime.settled(root.id);
    assert.equal((await again.results(await again.agent('main')))[0]?.status, 'interrupted');
  }
});

it('an interrupt ends a call that hangs, and a start that hangs', async () => {
  for (const [behaviour, state] of [
    [{}, 'executing'],
    [{ silent: true }, 'requesting'],
  ] as const) {
    const on = await setStage(
      (scene) => (scene.step === 0 ? [['t__hang', {}]] : 'done'),
      withServer(behaviour),
    );
    const root = await on.start();
    await until(async () => (await on.agent('main')).state.type === state, state);
    await on.runtime.interrupt(root.id, 'enough');
    await on.runtime.settled(root.id);
    assert.equal((await on.agent('main')).state.type, 'idle');
  }
});

it('a server that cannot be used is told to the model and to people, and stops nobody', async () => {
  const on = await setStage(({ request }) => request.system, withServer({ broken: true }));
  await on.perform();
  assert.match((await on.agent('main')).reply ?? '', /The tools of the MCP server t are not available/);
  const told = on.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  assert.deepEqual(told, [
    'the MCP server t ended with exit code 7; last output on stderr: no licence key found',
  ]);
});
