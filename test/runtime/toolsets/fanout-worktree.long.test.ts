// Proves on both databases that children with their own worktrees return their changes as part of their result, and lose none.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, it } from 'node:test';
import { WorktreeLifecycle } from '../../../src/runtime/worktree/worktree-lifecycle.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { until } from '../../until.ts';
import { alwaysOnBothDatabases, type Database, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { hangTool } from '../hang-tool.ts';
import { parsed, type Stage, type StageOptions } from '../stage.ts';
import { makeRepository, type Repository } from '../worktree/git-repository.ts';
import { brief, cast, errorOf, never, type Part, rounds, spawn, submit } from './fanout-stage.ts';

const work = (label: string, more: object = {}) => ({
  task: `change ${label}`,
  label,
  worktree: true,
  ...more,
});

/** Writes a file, then says the line. */
const writing =
  (then: Part): Part =>
  (scene) =>
    scene.step === 0 ? [['write', { path: 'new.txt', content: `by ${scene.name}\n` }]] : then(scene);

function suite(database: Database): void {
  let repository: Repository;
  beforeEach(() => {
    repository = makeRepository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
  });

  function stage(
    root: readonly Part[],
    children: Readonly<Record<string, Part>>,
    more: StageOptions = {},
  ): Promise<Stage> {
    const { config, ...rest } = more;
    return stagesOn(database, { toolsets: ['fanout'], tools: createBuiltInTools() })(cast(root, children), {
      config: { cwd: repository.folder, ...config },
      ...rest,
    });
  }

  const clean = () => assert.deepEqual([repository.worktrees(), repository.branches()], [[], []]);

  it('the diff follows the result, the branch keeps it, the folder is removed, and the folder of the parent is unchanged', async () => {
    const on = await stage([() => [spawn(work('kid'))]], { kid: writing(() => submit('I did it.')) });
    const { root } = await on.perform();
    await on.runtime.close();
    const [branch = ''] = repository.branches();
    const [spawned] = await on.results(root);
    const [{ worktree }] = parsed(spawned).spawned as [{ worktree: { branch: string; path: string } }];
    assert.equal(worktree.branch, branch);
    const [row] = (await rounds(on, root)).flat();
    assert.match(
      row?.outcome.success?.result ?? '',
      /^I did it\.\n\n\[worktree\] branch coppice\/.*\ndiff --git/s,
    );
    assert.match(row?.outcome.success?.result ?? '', /\n\+by kid$/);
    assert.deepEqual([repository.worktrees(), existsSync(worktree.path)], [[], false]);
    assert.equal(repository.git('show', `${branch}:new.txt`), 'by kid\n');
    assert.equal(existsSync(join(repository.folder, 'new.txt')), false);
    const kid = await on.agent('kid');
    assert.ok(kid.state.type === 'completed' && kid.state.result === row?.outcome.success?.result);
    assert.equal(kid.config.cwd, worktree.path);
    const told = on.requests.find(({ agent }) => agent.name === 'kid')?.messages[0];
    assert.ok(told?.role === 'user' && told.text.includes(branch));
  });

  it('several worktrees at once, some in a subfolder of the repository; one without changes says so', async () => {
    const names = ['k0', 'k1', 'k2', 'k3'];
    const parts = Object.fromEntries(names.map((name) => [name, writing(() => submit(name))]));
    const on = await stage(
      [() => [spawn(...names.map((name) => work(name, { cwd: 'src' })), work('idle'))]],
      {
        ...parts,
        idle: () => submit('looked'),
      },
    );
    const { root } = await on.perform();
    await on.runtime.close();
    const told = (await rounds(on, root)).flat().map(brief);
    for (const [place, name] of names.entries()) {
      assert.match(told[place] ?? '', new RegExp(`^${name}\n\n.*b/src/new.txt.*\\+by ${name}$`, 's'));
    }
    assert.equal(told[4], 'looked\n\n[worktree] nothing was changed');
    assert.deepEqual([repository.worktrees(), repository.branches().length], [[], 4]);
  });

  it('an exception while its changes are saved ends the child, not the process; its folder stays', async (test) => {
    const complete = async (_: unknown, event: { readonly submission?: unknown }) => {
      if (event.submission === null) return event;
      throw new Error('no way to save');
    };
    test.mock.method(WorktreeLifecycle.prototype, 'complete', complete);
    const on = await stage([() => [spawn(work('kid'))]], { kid: writing(() => submit('I did it.')) });
    const { root, reply } = await on.perform();
    assert.equal(reply, 'done');
    assert.deepEqual((await rounds(on, root)).flat().map(brief), [
      'internal: a fault in Coppice while the answer was processed: no way to save',
    ]);
    const kid = await on.agent('kid');
    assert.equal(readFileSync(join(kid.config.cwd, 'new.txt'), 'utf8'), 'by kid\n');
  });

  it('a result that must match a schema is unchanged; the branch has the changes', async () => {
    const on = await stage([() => [spawn(work('kid', { output_schema: { type: 'number' } }))]], {
      kid: writing(() => submit('7')),
    });
    const { root } = await on.perform();
    await on.runtime.close();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), ['7']);
    const [{ worktree }] = parsed((await on.results(root))[0]).spawned as [{ worktree: { branch: string } }];
    assert.equal(repository.git('show', `${worktree.branch}:new.txt`), 'by kid\n');
    assert.deepEqual(repository.worktrees(), []);
  });

  it('a failure includes the changes in its partial result', async () => {
    const clock = new HandClock();
    const on = await stage(
      [
        () => [
          spawn(work('gives-up'), work('silent'), work('breaks'), work('late', { timeout_seconds: 60 })),
        ],
      ],
      {
        'gives-up': writing(() => [['submit_error', { error: 'too hard' }]]),
        silent: writing(() => ''),
        breaks: writing(() => {
          throw new Error('away');
        }),
        late: writing((scene) => (/Finish now/.test(scene.user) ? 'Half.' : [['hang', {}]])),
      },
      { tools: [...createBuiltInTools(), hangTool(() => clock.pass(45_000))], clock },
    );
    const { root } = await on.perform();
    await on.runtime.close();
    const rows = (await rounds(on, root)).flat();
    assert.deepEqual(
      rows.map(({ outcome }) => outcome.failure?.error_kind),
      ['sub_agent_error', 'no_result', 'no_model', 'timed_out'],
    );
    const said = ['', '', '', 'Half.\n\n'];
    for (const [place, { outcome }] of rows.entries()) {
      const partial = outcome.failure?.partial ?? '';
      assert.ok(partial.startsWith(`${said[place]}[worktree] branch coppice/`), partial);
      assert.match(partial, /\n\+by /);
    }
    assert.deepEqual([repository.worktrees(), repository.branches().length], [[], 4]);
  });

  it('after a cancel or a kill the folder stays unchanged, and the parent knows where it is', async () => {
    const on = await stage([() => [spawn(work('stopped'), work('dead'))]], {
      stopped: writing(never),
      dead: writing(never),
    });
    const root = await on.start();
    await until(async () => {
      const agents = await on.store.agents({ root_id: root.id });
      return agents.filter(({ calls, origin }) => origin === 'spawn' && calls === 1).length === 2;
    }, 'both have written');
    await on.runtime.kill((await on.agent('dead')).id);
    await on.runtime.interrupt(root.id, 'enough');
    await until(async () => (await on.store.agent(root.id))?.state.type === 'idle', 'the parent rests');
    await on.runtime.close();
    const [result] = await on.results(root);
    const spawned = (parsed(result).spawned as { worktree: { branch: string; path: string } }[]).map(
      ({ worktree }) => worktree,
    );
    assert.deepEqual(spawned.map(({ branch }) => branch).toSorted(), repository.branches());
    for (const [place, name] of ['stopped', 'dead'].entries())
      assert.equal(readFileSync(join(spawned[place]?.path ?? '', 'new.txt'), 'utf8'), `by ${name}\n`);
    const [stopped, dead] = (await rounds(on, root)).flat();
    assert.deepEqual(stopped?.outcome.failure, {
      error: 'enough',
      error_kind: 'cancelled',
      partial: `[worktree] branch ${spawned[0]?.branch}; what was not committed is in ${spawned[0]?.path}`,
    });
    assert.equal(dead?.outcome.failure?.error_kind, 'killed');
  });

  it('a refused call creates no worktree, whatever the reason', async () => {
    const good = { task: 'x', worktree: true };
    const bad = [
      { model: 'no/such' },
      { cwd: 'nowhere' },
      { profile: 'nobody' },
      { read_first: ['nowhere'] },
      { output_schema: { type: 7 } },
      { task: ' ' },
    ];
    const on = await stage(
      [() => [...bad.map((more) => spawn(good, { ...good, ...more })), spawn(good, good, good)]],
      {},
      { missing_models: ['no/such'] },
    );
    const heads = () => statSync(join(repository.folder, '.git', 'refs', 'heads')).mtimeMs;
    const before = heads();
    const { root, agents } = await on.perform('go', { children: 2 });
    await on.runtime.close();
    const errors = (await on.results(root)).map((result) => errorOf(result).code);
    assert.deepEqual(errors, [
      'NOT_AVAILABLE',
      'NOT_AVAILABLE',
      'NO_PROFILE',
      'NOT_AVAILABLE',
      'INVALID_ARG',
      'INVALID_ARG',
      'LIMIT_REACHED',
    ]);
    assert.match(errorOf((await on.results(root))[0]).message, /"tasks.1.model"/);
    assert.equal(agents.length, 1);
    assert.equal(heads(), before, 'not even for a moment');
    clean();
  });

  it('of two calls that only fit separately, only the admitted one keeps its worktrees', async () => {
    const pair = () => spawn({ task: 'x', worktree: true }, { task: 'y', worktree: true });
    const on = await stage([() => [pair(), pair()]], {});
    const { root } = await on.perform('go', { total: 4 });
    await on.runtime.close();
    const statuses = (await on.results(root)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), ['error', 'ok']);
    clean();
  });

  it('a stop during the creation of a worktree leaves nothing behind', async () => {
    const on = await stage([() => [spawn(work('kid'))]], { kid: never });
    const root = await on.start();
    await until(() => repository.worktrees().length === 1, 'git is at it');
    await on.runtime.interrupt(root.id, 'enough');
    await until(async () => (await on.store.agent(root.id))?.state.type === 'idle', 'the parent rests');
    const agents = await on.store.agents({ root_id: root.id });
    // Either the call was stopped in time, or the child was created and stopped, and has its folder.
    await until(() => repository.worktrees().length === agents.length - 1, 'no folder without an agent');
  });

  it('after a restart the child continues in the same folder', async () => {
    const on = await stage([() => [spawn(work('kid'))]], { kid: writing(never) });
    const root = await on.start();
    await until(
      async () =>
        (await on.store.agents({ root_id: root.id })).some(
          ({ calls, origin }) => origin === 'spawn' && calls === 1,
        ),
      'the child has written',
    );
    const next = await on.reopen(
      cast([() => [spawn(work('kid'))]], {
        kid: (scene) => (scene.step === 1 ? [['read', { path: 'new.txt' }]] : submit('found it')),
      }),
    );
    await next.runtime.resume(root.id);
    await next.runtime.settled(root.id);
    const [row] = (await rounds(next, root)).flat();
    assert.match(row?.outcome.success?.result ?? '', /^found it\n\n.*\+by kid$/s);
    assert.match(row?.did ?? '', /^2 tool calls \(write 1, read 1\); 1 file changed: new\.txt; /);
    await next.runtime.close();
    assert.deepEqual([repository.worktrees(), repository.branches().length], [[], 1]);
  });

  it('the result of a delegated task also has its changes', async () => {
    const on = await stage(
      [() => [['subagent_spawn', { task: 'change it', description: 'kid', worktree: true }]]],
      { kid: writing(() => 'I did it.') },
      { toolsets: ['delegate'] },
    );
    const { root } = await on.perform();
    await on.runtime.close();
    const [result] = await on.results(root);
    assert.match(result?.output ?? '', /^I did it\.\n\n\[worktree\] .*\+by kid$/s);
    assert.match(result?.did ?? '', /1 file changed: new\.txt/);
    assert.deepEqual([repository.worktrees(), repository.branches().length], [[], 1]);
  });
}

alwaysOnBothDatabases('children with worktrees', suite);
