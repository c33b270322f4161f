// Proves the `fanout` vocabulary on both databases: parallel tasks, one message with all results; a call is admitted as a whole or not at all.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { until } from '../../until.ts';
import { type Database, onBothDatabases, stagesOn } from '../both-databases.ts';
import { type Line, parsed } from '../stage.ts';
import { brief, cast, errorOf, type Part, rounds, spawn, submit } from './fanout-stage.ts';

/** A tool that runs until the test calls `open`. */
function gate(name: string): { readonly tool: Tool; readonly open: () => void; readonly runs: () => number } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let runs = 0;
  const tool = defineTool({
    name,
    description: 'Waits.',
    input: z.strictObject({}),
    side_by_side: true,
    run: async () => {
      runs += 1;
      await opened;
      return 'opened';
    },
  }) as Tool;
  return { tool, open: () => open(), runs: () => runs };
}

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  it('the parent gets all results in one message, as JSON rows in the order of the tasks', async () => {
    const answers = new Map<string, (line: Line) => void>();
    const wait: Part = ({ name }) => new Promise((resolve) => answers.set(name, resolve));
    const security = 'Review error handling from a security perspective';
    const speed = 'Review error handling from a performance perspective';
    const on = await stage(
      cast(
        [
          () => [
            spawn({ task: security, label: 'a' }, { task: speed, label: 'b' }, { task: 'x', label: 'c' }),
          ],
        ],
        {
          a: wait,
          b: wait,
          c: wait,
        },
      ),
    );
    const root = await on.start();
    await until(() => answers.size === 3, 'all three work side by side');
    assert.equal((await on.store.agent(root.id))?.state.type, 'awaiting');
    for (const [name, line] of [
      ['c', submit('third')],
      ['b', [['submit_error', { error: 'Codebase too large to analyze within time limit' }]]],
    ] as const) {
      answers.get(name)?.(line);
      const { id } = await on.agent(name);
      await until(async () => (await on.store.agent(id))?.ended_at !== null, `${name} ends`);
    }
    answers.get('a')?.(submit('Found 3 issues'));
    const outcome = await on.runtime.settled(root.id);
    assert.equal(outcome.reply, 'done');
    const ids = await Promise.all(['a', 'b', 'c'].map(async (name) => (await on.agent(name)).id));
    const expected = {
      sub_agent_results: [
        { agent_id: ids[0], task: 'a', outcome: { success: { result: 'Found 3 issues' } } },
        {
          agent_id: ids[1],
          task: 'b',
          outcome: {
            failure: {
              error: 'Codebase too large to analyze within time limit',
              error_kind: 'sub_agent_error',
            },
          },
        },
        { agent_id: ids[2], task: 'c', outcome: { success: { result: 'third' } } },
      ],
    };
    const last = on.requests
      .filter((request) => request.agent.name === 'main')
      .at(-1)
      ?.messages.at(-1);
    const told = last?.role === 'user' ? last.text : '';
    assert.equal(told, JSON.stringify(expected));
    assert.deepEqual(outcome.agents.map(({ state }) => state.type).toSorted(), [
      'completed',
      'completed',
      'failed',
      'idle',
    ]);
  });

  it('a child begins with only its task, in its own conversation, which no person began', async () => {
    const on = await stage(cast([() => [spawn({ task: 'Review src/auth/ for N+1 patterns.' })]], {}));
    const { root } = await on.perform('the secret is 42');
    const child = await on.agent('review-src-auth-for-n-1-patterns');
    assert.deepEqual(
      [child.parent_id, child.root_id, child.depth, child.origin, child.forked_from],
      [root.id, root.id, 1, 'spawn', null],
    );
    assert.equal(child.session_key, `agent:main:spawn:${child.id}`);
    assert.equal(child.config.model, root.config.model);
    assert.equal(child.config.cwd, root.config.cwd);
    const request = on.requests.find(({ agent }) => agent.id === child.id);
    assert.deepEqual(request?.messages, [{ role: 'user', text: 'Review src/auth/ for N+1 patterns.' }]);
    assert.deepEqual(
      request?.tools.map((tool) => tool.name),
      ['submit_error', 'submit_result'],
    );
    const main = on.requests.find(({ agent }) => agent.name === 'main');
    assert.deepEqual(
      main?.tools.map((tool) => tool.name),
      ['spawn_agents'],
    );
    const [spawned] = await on.results(root);
    assert.deepEqual(parsed(spawned).spawned, [{ agent_id: child.id, name: child.name }]);
  });

  it('two spawns and two other calls in one message may settle in any order: the children of both are awaited and reported once', async () => {
    for (const order of [
      ['spawns', 'one', 'two'],
      ['two', 'spawns', 'one'],
      ['one', 'two', 'spawns'],
    ]) {
      const [one, two] = [gate('one'), gate('two')];
      let free = (): void => undefined;
      const freed = new Promise<void>((resolve) => {
        free = resolve;
      });
      const held: Part = async ({ name }) => {
        await freed;
        return submit(`result of ${name}`);
      };
      const on = await stage(
        cast(
          [
            () => [
              ['one', {}],
              spawn({ task: '1', label: 'a' }, { task: '2', label: 'b' }),
              ['two', {}],
              spawn({ task: '3', label: 'c' }),
            ],
          ],
          { a: held, b: held, c: held },
        ),
        { tools: [one.tool, two.tool] },
      );
      const root = await on.start();
      await until(() => one.runs() === 1 && two.runs() === 1, 'both tools run');
      const state = async () => (await on.store.agent(root.id))?.state;
      await until(async () => {
        const now = await state();
        return now?.type === 'executing' && now.spawned.length === 3;
      }, 'the children are there while the tools still run');
      const settled = async () => {
        const now = await state();
        return now?.type === 'executing' ? now.results.length : 4;
      };
      for (const [place, step] of order.entries()) {
        if (step === 'one') one.open();
        if (step === 'two') two.open();
        if (step === 'spawns') {
          free();
          // Results of children are kept, even if they come while other calls still run.
          for (const name of ['a', 'b', 'c']) {
            const { id } = await on.agent(name);
            await until(async () => (await on.store.agent(id))?.state.type === 'completed', `${name} ends`);
          }
        }
        const tools = order.slice(0, place + 1).filter((one) => one !== 'spawns').length;
        await until(async () => (await settled()) >= 2 + tools, `${step} is settled`);
      }
      const { reply } = await on.runtime.settled(root.id);
      assert.equal(reply, 'done');
      const [rows, ...more] = await rounds(on, root);
      assert.deepEqual(more, [], 'told once');
      assert.deepEqual(rows?.map(brief), ['result of a', 'result of b', 'result of c']);
      const results = await on.results(root);
      assert.deepEqual(
        results.map((result) => [result.name, result.status]),
        [
          ['one', 'ok'],
          ['spawn_agents', 'ok'],
          ['two', 'ok'],
          ['spawn_agents', 'ok'],
        ],
      );
      assert.equal(on.requests.filter(({ agent }) => agent.name === 'main').length, 2);
      assert.deepEqual(await on.store.mail(root.id), []);
    }
  });

  it('a second round in the next turn is distinguished from the first', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'a' })], () => [spawn({ task: '2', label: 'b' })]]),
    );
    const { root } = await on.perform();
    const told = await rounds(on, root);
    assert.deepEqual(
      told.map((rows) => rows.map(brief)),
      [['result of a'], ['result of b']],
    );
  });

  it('one invalid task is an error that names it, and nothing is created', async () => {
    const good = { task: 'fine' };
    const cases: readonly (readonly [unknown, string, RegExp])[] = [
      [{ tasks: [] }, 'INVALID_ARG', /"tasks"/],
      [{}, 'INVALID_ARG', /"tasks"/],
      ['{"tasks": [', 'INVALID_ARG', /not valid JSON/],
      [{ tasks: 7 }, 'INVALID_ARG', /"tasks"/],
      [{ tasks: [good, good, { task: ' ' }] }, 'INVALID_ARG', /"tasks.2.task".*empty/],
      [{ tasks: [good, {}] }, 'INVALID_ARG', /"tasks.1.task"/],
      [
        { tasks: [good, { task: 'x', cdw: '.' }] },
        'INVALID_ARG',
        /"tasks.1.cdw": not known; the fields of tasks.1 are: task, cwd/,
      ],
      [{ tasks: [good, { task: 'x', timeout_seconds: -1 }] }, 'INVALID_ARG', /"tasks.1.timeout_seconds"/],
      [{ tasks: [good, { task: 'x', timeout_seconds: 1e9 }] }, 'INVALID_ARG', /"tasks.1.timeout_seconds"/],
      [
        { tasks: [good, good, { task: 'x', model: 'no/such' }] },
        'NOT_AVAILABLE',
        /"tasks.2.model".*no\/such/,
      ],
      [{ tasks: [good, { task: 'x', cwd: '..' }] }, 'NOT_AVAILABLE', /"tasks.1.cwd"/],
      [{ tasks: [good, { task: 'x', cwd: '/' }] }, 'NOT_AVAILABLE', /"tasks.1.cwd"/],
      [{ tasks: [good, { task: 'x', cwd: 'nowhere' }] }, 'NOT_AVAILABLE', /"tasks.1.cwd".*not a folder/],
      [{ tasks: [good, { task: 'x', read_first: ['nowhere.md'] }] }, 'NOT_AVAILABLE', /"tasks.1.read_first"/],
      [
        { tasks: [good, { task: 'x', profile: 'nobody' }] },
        'NO_PROFILE',
        /"tasks.1.profile".*"nobody".*Profiles: none/,
      ],
      [
        { tasks: [good, { task: 'x', output_schema: { type: 'nonsense' } }] },
        'INVALID_ARG',
        /"tasks.1.output_schema"/,
      ],
      [
        { tasks: [good, { task: 'x', worktree: true }] },
        'NOT_AVAILABLE',
        /"tasks.1.worktree".*git repository/,
      ],
    ];
    const on = await stage(cast([() => cases.map(([input]) => ['spawn_agents', input] as const)]), {
      missing_models: ['no/such'],
    });
    const { root, agents, reply } = await on.perform();
    const results = await on.results(root);
    cases.forEach(([input, code, message], index) => {
      const error = errorOf(results[index]);
      assert.equal(error.code, code, JSON.stringify([input, error]));
      assert.match(error.message, message);
    });
    assert.equal(agents.length, 1);
    assert.equal((await on.store.agents({ root_id: root.id })).length, 1);
    assert.deepEqual(await rounds(on, root), []);
    assert.equal(reply, 'done');
  });

  it('limits: exactly the allowed number is created, and a call creates all or none', async () => {
    const trio = () => spawn({ task: '1' }, { task: '2' }, { task: '3' });
    for (const [limits, created, named] of [
      [{ children: 7 }, 6, 'children'],
      [{ live: 7 }, 6, 'live'],
      [{ live: 6 }, 3, 'live'],
      [{ total: 9 }, 6, 'total'],
      [{ depth: 0 }, 0, 'depth'],
      [{ children: 2 }, 0, 'children'],
    ] as const) {
      const on = await stage(cast([() => [trio(), trio(), trio(), trio()]]));
      const { root, agents, reply } = await on.perform('go', limits);
      assert.equal(agents.length - 1, created, JSON.stringify(limits));
      const results = await on.results(root);
      const refused = results.filter((result) => result.status === 'error');
      assert.equal(refused.length, 4 - created / 3);
      for (const result of refused) {
        const { code, message } = errorOf(result);
        assert.equal(code, 'LIMIT_REACHED');
        assert.match(message, new RegExp(`"${named}"`));
        assert.match(message, /--limit/);
      }
      assert.equal((await rounds(on, root)).flat().length, created);
      assert.equal(reply, 'done');
    }
  });

  it('ended children make room for others until the total is reached', async () => {
    const pair = () => [spawn({ task: '1' }, { task: '2' })];
    const on = await stage(cast([pair, pair, pair]));
    const { root, agents } = await on.perform('go', { children: 2, live: 3, total: 5 });
    assert.equal(agents.length, 5);
    assert.match(errorOf((await on.results(root)).at(-1)).message, /"total" reached: 5 of 5/);
  });

  it('no nesting: a child that spawns anyway is refused, also under other names', async () => {
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'kid' })]], {
        kid: (scene) =>
          scene.step === 0
            ? [
                spawn({ task: 'deeper' }),
                ['fork', { name: 'x', prompt: 'y' }],
                ['sessions_spawn', { task: 'z' }],
              ]
            : submit(scene.last.map((result) => result.output).join(' | ')),
      }),
      { toolsets: ['fanout', 'process', 'sessions'] },
    );
    const { root, agents } = await on.perform();
    assert.equal(agents.length, 2);
    const [[row] = []] = await rounds(on, root);
    assert.match(
      row?.outcome.success?.result ?? '',
      /NESTING_FORBIDDEN.*there is no tool "fork".*there is no tool "sessions_spawn"/,
    );
  });
}

onBothDatabases('fanout toolset', suite);
