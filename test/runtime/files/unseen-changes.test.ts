// Proves that `write` and `patch` change only content that their agent has seen, despite changes by other agents, commands and processes, forks and takeovers.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, it } from 'node:test';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Line, type Play, setStage } from '../stage.ts';
import { blamed, byTheirEditors, crowdOfEditors, everyEdit, linesOf } from './crowd-of-editors.ts';

afterEach(closeOpened);

const NO_RULES = { allow: [], ask: [], deny: [] };
const write = (content: string): Line => [['write', { path: 'a.txt', content }]];
const read: Line = [['read', { path: 'a.txt' }]];
const patch = (old_text: string, new_text: string): Line => [
  ['patch', { path: 'a.txt', edits: [{ old_text, new_text }] }],
];

/** A play in which each agent follows its own lines. */
const acts =
  (lines: Readonly<Record<string, readonly Line[]>>): Play =>
  ({ name, step }) =>
    lines[name]?.[step] ?? 'done';

onBothDatabases('changes of files', (database) => {
  it('what was not seen is refused: existing files, and changes by others, with who made them', async () => {
    const on = await setStage(
      acts({
        main: [
          write('one\ntwo\n'),
          patch('two', '2'),
          [['fork', { name: 'kid', prompt: 'change it' }]],
          [['wait', { from_agents: ['kid'] }]],
          write('mine'),
          read,
          [['bash', { command: 'echo more >> a.txt' }]],
          patch('one', '1'),
          [['write', { path: 'b.txt', content: 'x' }]],
        ],
        // The child has seen what its parent wrote before the fork, although its own result of the fork differs from its parent's.
        kid: [patch('2', 'second\nthird'), [['send', { to: 'main', message: 'changed' }]]],
      }),
      { tools: createBuiltInTools(), database: await database() },
    );
    const root = await on.start();
    writeFileSync(join(root.config.cwd, 'b.txt'), 'there before');
    await on.runtime.settled(root.id);
    const results = await on.results(root);
    const told = (at: number) => `${results[at]?.status}: ${results[at]?.output}`;
    assert.equal((await on.results(await on.agent('kid')))[0]?.status, 'ok');
    assert.match(
      told(4),
      /^error: a\.txt changed since you saw it, \d+s ago by kid, lines 2–3: call read \{"path":"a\.txt"\} again$/,
    );
    assert.match(told(5), /^ok: 1\tone\n2\tsecond\n3\tthird/);
    assert.match(
      told(7),
      /^error: a\.txt changed since you saw it, not by write or patch of an agent: call read \{"path":"a\.txt"\} again$/,
    );
    assert.match(
      told(8),
      /^error: b\.txt exists, and you have not seen what is in it: call read {"path":"b.txt"} first$/,
    );
    assert.equal(readFileSync(join(root.config.cwd, 'a.txt'), 'utf8'), 'one\nsecond\nthird\nmore\n');
    assert.equal(
      on.requests.some((one) => JSON.stringify(one.messages).includes('"hash"')),
      false,
    );
  });

  it('what was seen counts in forks and after a takeover, but not what calls beside a fork return', async () => {
    const b = (content: string): Line => [['write', { path: 'b.txt', content }]];
    const on = await setStage(
      acts({
        main: [
          write('one\n'),
          [['bash', { command: 'echo there > b.txt' }]],
          [
            ['read', { path: 'b.txt' }],
            ['fork', { name: 'kid', prompt: 'go on' }],
          ],
        ],
        kid: [b('unseen'), patch('one', 'two')],
      }),
      { tools: createBuiltInTools(), database: await database() },
    );
    const root = await on.start();
    await on.runtime.settled(root.id);
    const kid = (await on.results(await on.agent('kid'))).map(({ status }) => status);
    assert.deepEqual(kid, ['error', 'ok']);
    const again = await on.reopen(({ user, results }) =>
      user === 'again' && results.length < 5 ? b('from main') : 'done',
    );
    await again.runtime.resume(root.id);
    await again.runtime.send(root.id, 'again');
    await again.runtime.settled(root.id);
    assert.equal(readFileSync(join(root.config.cwd, 'b.txt'), 'utf8'), 'from main');
  });

  it('who uses a file is told once which agents at work use it too, after a takeover as well', async () => {
    const b = (old_text: string, new_text: string): Line => [
      ['patch', { path: 'b.txt', edits: [{ old_text, new_text }] }],
    ];
    const readB: Line = [['read', { path: 'b.txt' }]];
    const waitFor = (name: string): Line => [['wait', { from_agents: [name] }]];
    const kid = [read, patch('one', 'two'), readB, b('there', 'here')];
    const on = await setStage(
      acts({
        main: [
          [['bash', { command: 'echo there > b.txt' }]],
          write('one\n'),
          readB,
          [['fork', { name: 'kid', prompt: 'go on' }]],
          waitFor('kid'),
          // It has come to rest.
          read,
        ],
        kid,
      }),
      { tools: createBuiltInTools(), database: await database() },
    );
    const { root } = await on.perform();
    const notes = (results: Awaited<ReturnType<typeof on.results>>) =>
      results.map(({ output }) => /\[also .*\]/.exec(output)?.[0] ?? '');
    assert.deepEqual(notes(await on.results(await on.agent('kid'))), [
      '[also being changed by main]',
      '',
      '',
      '[also held by main]',
    ]);
    assert.deepEqual([...new Set(notes(await on.results(root)))], ['']);
    const before = (await on.results(root)).length;
    const again = await on.reopen(({ name, user, step, results }) => {
      if (name === 'late') return [readB, b('here', 'everywhere'), read][step] ?? 'done';
      if (user !== 'again') return 'done';
      return (
        [[['fork', { name: 'late', prompt: 'go on' }]] as Line, waitFor('late')][results.length - before] ??
        'done'
      );
    });
    await again.runtime.resume(root.id);
    await again.runtime.send(root.id, 'again');
    await again.runtime.settled(root.id);
    const late = await again.results(await again.agent('late'));
    assert.deepEqual(notes(late), ['', '[also held by main]', '[also being changed by main]']);
  });

  it('what was seen before a checkpoint counts after a takeover, and in forks made then', async () => {
    const b = (content: string): Line => [['write', { path: 'b.txt', content }]];
    let patched = false;
    const play: Play = ({ name, user, step }) => {
      if (user.includes('replaced by your summary')) return 'I read a.txt and wrote b.txt.';
      if (name === 'main' && user === 'go on' && !patched) {
        patched = true;
        return patch('one', 'two');
      }
      if (name === 'kid' && step === 0) return b('changed by kid');
      return (
        (user === 'begin' && [b('new'), [['bash', { command: 'echo one > a.txt' }]] as Line, read][step]) ||
        'done'
      );
    };
    const on = await setStage(play, { tools: createBuiltInTools(), database: await database() });
    const { root } = await on.perform();
    for (let round = 0; round < 2; round += 1) {
      await on.runtime.compact(root.id);
      await on.runtime.settled(root.id);
    }
    const again = await on.reopen();
    await again.runtime.resume(root.id);
    await again.runtime.fork(root.id, 'kid', 'do it', true);
    await again.runtime.send(root.id, 'go on');
    await again.runtime.settled(root.id);
    const cuts = (await again.store.history(root.id)).flatMap(({ kind, content }) =>
      kind === 'event' ? content.event : [],
    );
    assert.ok(cuts.includes('checkpoint'));
    const told = async (name: string) =>
      (await again.store.history((await again.store.find(name, root.id))[0]?.id ?? '')).flatMap(
        ({ kind, content }) => (kind === 'result' ? `${content.name} ${content.status}` : []),
      );
    assert.deepEqual((await told('main')).slice(3), ['patch ok']);
    assert.deepEqual((await told('kid')).slice(-1), ['write ok']);
    assert.equal(readFileSync(join(root.config.cwd, 'b.txt'), 'utf8'), 'changed by kid');
  });

  it('patch changes a file of which nothing was seen where old_text is found once; write is told the call that shows it', async () => {
    const on = await setStage(
      acts({
        main: [
          [['bash', { command: 'printf "one\\ntwo\\ntwo\\n" > a.txt; printf x > b.txt' }]],
          patch('two', '2'),
          patch('three', '3'),
          patch('one', '1'),
          [['write', { path: 'b.txt', content: 'mine' }]],
        ],
      }),
      { tools: createBuiltInTools(), database: await database() },
    );
    const { root } = await on.perform();
    const [, twice, none, once, refused] = await on.results(root);
    assert.match(twice?.output ?? '', /found 2 times/);
    assert.match(none?.output ?? '', /not found; no line is like it: call read first/);
    assert.equal(once?.status, 'ok');
    assert.equal(
      refused?.output,
      'b.txt exists, and you have not seen what is in it: call read {"path":"b.txt"} first',
    );
    assert.equal(readFileSync(join(root.config.cwd, 'a.txt'), 'utf8'), '1\ntwo\ntwo\n');
  });

  it('a command that prints all of a file has shown it; one that prints a part, or something else, has not', async () => {
    const [shown, hidden] = [
      ['cat 0.txt', "sed -n '1,99p' ./1.txt", 'cat "2.txt"'],
      ['head -1 3.txt', 'cat -n 4.txt', 'cat 5.txt 5.txt', 'cat sub/6.txt', 'cat 7.txt; echo 7.txt'],
    ];
    const commands = [...shown, ...hidden];
    const files = commands.map((_, at) => `${at}.txt`).join(' ');
    const play: Play = ({ name, step }) => {
      const path = `${name.replace('kid', '')}.txt`;
      const kid: readonly Line[] = [
        [['bash', { command: commands[Number.parseInt(path, 10)] }]],
        [['write', { path, content: 'mine' }]],
      ];
      const main: readonly Line[] = [
        [['bash', { command: `mkdir sub; printf "one\\ntwo\\n" | tee ${files} sub/6.txt` }]],
        commands.map((_, at) => ['fork', { name: `kid${at}`, prompt: 'go' }]),
      ];
      return (name === 'main' ? main : kid)[step] ?? 'done';
    };
    const on = await setStage(play, { tools: createBuiltInTools(), database: await database() });
    const { agents } = await on.perform();
    const kids = agents.filter(({ name }) => name !== 'main');
    const written = await Promise.all(kids.map(async (one) => (await on.results(one))[1]?.status));
    assert.deepEqual(
      written,
      commands.map((one) => (shown.includes(one) ? 'ok' : 'error')),
    );
  });

  it('nobody is asked about a change that would be refused', async () => {
    const on = await setStage(
      acts({ main: [[['bash', { command: 'echo there > a.txt' }]], write('unseen'), read, write('seen')] }),
      {
        tools: createBuiltInTools(),
        database: await database(),
        can_ask: true,
        config: { permissions: { cli: { allow: ['*'], ask: ['write'], deny: [] }, config: NO_RULES } },
      },
    );
    const root = await on.start();
    await until(async () => (await on.store.asks({ root_id: root.id })).length > 0, 'it asks');
    assert.deepEqual(
      (await on.results(root)).map(({ name, status }) => `${name} ${status}`),
      ['bash ok', 'write error', 'read ok'],
    );
    assert.equal((await on.store.asks({ root_id: root.id })).length, 1);
  });

  it('no edit is lost when agents edit one file at once, and every line is known to be by its agent', async () => {
    const { on, file, refusals } = await crowdOfEditors(5, 6, await database());
    assert.deepEqual(linesOf(file), everyEdit(5, 6));
    assert.deepEqual(await blamed(on, file), byTheirEditors(everyEdit(5, 6)));
    assert.ok(refusals > 0, 'nobody was ever refused');
  });
});

it('a change waits while another process changes a file, and gives up with its turn', async () => {
  const context = makeWorkspace();
  const tool = createBuiltInTools().find(({ spec }) => spec.name === 'write');
  assert.ok(tool);
  const other = new DatabaseSync(join(dirname(context.spill_dir), 'changes.lock'));
  other.exec('BEGIN EXCLUSIVE');
  let done = false;
  const first = call(tool, { path: 'a.txt', content: 'x' }, context).finally(() => {
    done = true;
  });
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(done, false);
  other.exec('ROLLBACK');
  assert.equal((await first).status, 'ok');
  other.exec('BEGIN EXCLUSIVE');
  const second = call(tool, { path: 'b.txt', content: 'x' }, context);
  context.abort();
  assert.equal((await second).status, 'cancelled');
  other.close();
});
