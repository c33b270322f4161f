// Proves, on both databases, that a fork can have its own model, profile, files and git worktree, and which terms it can never have.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { type Line, type Play, parsed, type Scene } from '../stage.ts';
import { makeRepository } from '../worktree/git-repository.ts';
import { errorOf } from './fanout-stage.ts';
import { slash } from './slash-stage.ts';

const fork = (name: string, more: object = {}) => ['fork', { name, prompt: `be ${name}`, ...more }] as const;

/** A play in which the root forks on these terms, and children follow their lines by name. */
function play(
  calls: readonly (readonly [string, unknown])[],
  kids: Record<string, (scene: Scene) => Line> = {},
): Play {
  return (scene) => {
    if (scene.name === 'main') return scene.step === 0 ? calls : 'done';
    return kids[scene.name]?.(scene) ?? 'done';
  };
}

const terms = {
  subagents: { ...DEFAULT_TERMS.subagents, models: ['play/other', 'fast/*'] },
  profiles: new Map(
    [
      profileOf({ name: 'reader', tools: ['read', 'bash'], system: 'You read.', thinking: 'high' }),
      profileOf({ name: 'thinker', model: 'deep/one' }),
    ].map((one) => [one.name, one]),
  ),
};

onBothDatabases('forks with terms', (database) => {
  it('works in its worktree with its own model and the files that it was given; its own forks share the worktree', async () => {
    const repository = makeRepository({ 'a.txt': 'one\n', 'notes/plan.md': 'the plan\n' });
    const given = { model: 'play/other', profile: 'reader', read_first: ['notes/plan.md'], worktree: true };
    const on = await stagesOn(database, { tools: createBuiltInTools(), terms })(
      play([fork('kid', given), fork('plain')], {
        kid: ({ step }) =>
          step === 0
            ? [['bash', { command: 'pwd; echo new > b.txt' }]]
            : step === 1
              ? [fork('grandchild')]
              : 'done',
      }),
      { config: { cwd: repository.folder, tools: ['read', 'write', 'bash'] } },
    );
    const { root } = await on.perform();
    const [kid, plain, grandchild] = await Promise.all(['kid', 'plain', 'grandchild'].map(on.agent));
    await on.runtime.close();
    assert.ok(kid !== undefined && plain !== undefined && grandchild !== undefined);
    const { config } = kid;
    assert.deepEqual(
      [config.model, config.profile, config.system, config.thinking, config.tools],
      ['play/other', 'reader', 'You read.', 'high', ['read', 'bash']],
    );
    assert.ok(config.worktree !== undefined);
    const { path, branch } = config.worktree;
    assert.deepEqual(parsed((await on.results(root))[0]), {
      agent_id: kid.id,
      name: 'kid',
      worktree: { branch, path },
    });
    assert.deepEqual([repository.branches(), config.cwd], [[branch], path]);
    assert.equal(readFileSync(join(path, 'b.txt'), 'utf8'), 'new\n');
    assert.equal(existsSync(join(repository.folder, 'b.txt')), false);
    assert.deepEqual([grandchild.config.worktree, grandchild.config.model], [config.worktree, 'play/other']);
    assert.deepEqual(plain.config, root.config);
    const told = on.requests.find(({ agent }) => agent.name === 'kid')?.messages.at(-1);
    assert.ok(told?.role === 'user');
    assert.match(
      told.text,
      /Your task:\n--- \w+ File notes\/plan\.md: .*\nthe plan\n.*be kid\n\nYour folder is now/s,
    );
    assert.ok(told.text.includes(path) && told.text.includes(branch));
    // After a restart the child continues in the same folder.
    const again = await on.reopen(() => [['bash', { command: 'git rev-parse --abbrev-ref HEAD' }]]);
    assert.equal((await again.agent('kid')).config.cwd, path);
  });

  it('slash fork takes the same terms, with a prompt or the whole context', async () => {
    const repository = makeRepository({ 'a.txt': 'one\n', 'notes/plan.md': 'the plan\n' });
    const options = '--model play/other --worktree --read-first notes/plan.md --read-first a.txt';
    const on = await stagesOn(database, { tools: createBuiltInTools(), terms, toolsets: ['slash'] })(
      play([
        slash(`fork ${options}`),
        slash(`fork ${options} be kid`),
        slash('fork --worktree'),
        slash('fork --model dear/huge x'),
      ]),
      { config: { cwd: repository.folder, tools: ['read'] } },
    );
    const { root } = await on.perform('the secret is 42');
    const results = await on.results(root);
    assert.match(errorOf(results[3]).message, /^slash: field "model": agents cannot choose "dear\/huge"/);
    const agents = await on.store.agents({ parent_id: root.id });
    assert.equal(agents.length, 3);
    const told = results.slice(0, 3).map(({ output }, at) => {
      const agent = agents.find(({ id }) => output.startsWith(id));
      assert.ok(agent !== undefined);
      const { worktree, model, cwd } = agent.config;
      assert.ok(worktree !== undefined);
      assert.deepEqual([model, cwd], [at === 2 ? root.config.model : 'play/other', worktree.path]);
      assert.equal(output, `${agent.id}\nIts git worktree: branch ${worktree.branch}, ${worktree.path}`);
      const { messages } = on.requests.find((request) => request.agent.id === agent.id) ?? {};
      const last = messages?.at(-1);
      assert.ok(last?.role === 'user' && last.text.includes(`Your folder is now ${worktree.path}`));
      assert.equal(JSON.stringify(messages).includes('the secret is 42'), at !== 1);
      return last.text;
    });
    const files = /File notes\/plan\.md: .*\nthe plan\n.*File a\.txt: .*\none\n/s;
    assert.match(told[0] ?? '', files);
    assert.match(
      told[1] ?? '',
      /Your task:\n--- (\w+) File notes.*\none\n\n--- \1 end\n\nbe kid\n\nYour folder/s,
    );
    assert.doesNotMatch(told[2] ?? '', /Your task|File /);
  });

  it('chooses only among the models of its ancestors, of profiles and of the configuration, and an error lists them', async () => {
    const on = await stagesOn(database, { terms })(
      play([
        fork('a', { model: 'dear/huge' }),
        fork('b', { model: 'fast/new' }),
        fork('c', { model: 'deep/one' }),
        fork('d', { model: 'play/actor' }),
        fork('e', { model: 'scripted:/etc/passwd' }),
        fork('f', { model: 'play/gone' }),
      ]),
      { missing_models: ['play/gone'] },
    );
    const { root } = await on.perform();
    const [a, b, c, d, e, f] = await on.results(root);
    assert.deepEqual(
      [b, c, d].map((result) => result?.status),
      ['ok', 'ok', 'ok'],
    );
    assert.deepEqual(errorOf(a), {
      code: 'NOT_AVAILABLE',
      message:
        'fork: field "model": agents cannot choose "dear/huge". Models: play/actor, deep/one, play/other, fast/*.',
    });
    assert.match(errorOf(e).message, /only a person can choose a scripted model/);
    assert.match(errorOf(f).message, /agents cannot choose "play\/gone"/);
    assert.deepEqual(
      await Promise.all(['b', 'c', 'd'].map(async (name) => (await on.agent(name)).config.model)),
      ['fast/new', 'deep/one', 'play/actor'],
    );
  });

  it('gets no tool and no permission that its parent lacks, and a refused fork leaves no worktree', async () => {
    const repository = makeRepository({ 'a.txt': 'one\n', 'large.txt': 'x'.repeat(250_000) });
    const rules = { allow: ['*'], ask: [], deny: ['read:a.txt'] };
    const on = await stagesOn(database, { tools: createBuiltInTools(), terms })(
      play(
        [
          fork('kid', { profile: 'reader', worktree: true }),
          fork('secret', { worktree: true, read_first: ['a.txt'] }),
          fork('outside', { worktree: true, read_first: ['../x'] }),
          fork('much', { worktree: true, read_first: ['large.txt', './large.txt'] }),
          fork('nobody', { worktree: true, profile: 'nobody' }),
        ],
        {
          kid: ({ step }) =>
            step === 0
              ? [
                  ['bash', { command: 'true' }],
                  ['read', { path: 'a.txt' }],
                ]
              : 'done',
        },
      ),
      {
        config: {
          cwd: repository.folder,
          tools: ['read'],
          permissions: { cli: rules, config: { allow: [], ask: [], deny: [] } },
        },
      },
    );
    const { root } = await on.perform();
    const kid = await on.agent('kid');
    const [bash, read] = await on.results(kid);
    const errors = (await on.results(root)).slice(1).map((result) => errorOf(result).message);
    await on.runtime.close();
    assert.deepEqual(kid.config.tools, ['read']);
    assert.deepEqual([bash?.status, read?.status], ['error', 'denied']);
    assert.match(read?.output ?? '', /read:a\.txt/);
    assert.match(errors[0] ?? '', /^fork: field "read_first": a\.txt may not be read/);
    assert.match(errors[1] ?? '', /^fork: field "read_first": /);
    assert.match(errors[2] ?? '', /^fork: field "read_first": 500000 characters; at most 400000/);
    assert.match(
      errors[3] ?? '',
      /^fork: field "profile": no profile "nobody"\. Profiles: reader, thinker\.$/,
    );
    assert.deepEqual(repository.branches(), [kid.config.worktree?.branch]);
  });
});
