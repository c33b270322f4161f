/** Proves that a tree is continued in several ways, each in a worktree of its own, that they are compared, and that the best one can be taken over. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { runGit } from '../runtime/worktree/git-repository.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { makeHome } from './run-cli.ts';
import { whatIfHome } from './what-if-home.ts';

it('compares two continuations by a command, takes the best one over, and does nothing again for the same order', async () => {
  const home = await whatIfHome();
  const models = ['--model', 'scripted:../a.json,opnai/gpt-5'];
  const refused = await home.run(['what-if', home.tree, '--at', `before ${home.at}`, ...models]);
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, /no provider called "opnai".*Providers: anthropic/s);
  assert.equal(existsSync(home.log), false, 'no other continuation was paid for');

  const order = [
    '--at',
    `before ${home.at}`,
    '--model',
    'scripted:../a.json,scripted:../b.json',
    '--check',
    'node new.js',
  ];
  const { cells, best, run } = await home.what_if(...order);
  assert.deepEqual(
    cells.map(({ name, outcome, answer, files, check, passed }) => [
      name,
      outcome,
      answer,
      files,
      check,
      passed,
    ]),
    [
      ['scripted:../a.json', 'done', 'Done by a.', ['new.js'], 'ok', true],
      ['scripted:../b.json', 'done', 'Done by b.', ['new.js'], 'exit 3', false],
    ],
  );
  assert.equal(best, 'scripted:../a.json');
  assert.deepEqual(readFileSync(home.log, 'utf8').split('\n').sort(), ['', 'a', 'b']);
  assert.equal(
    readFileSync(join(home.work, 'new.js'), 'utf8'),
    'process.exit(0);\n',
    'the folder stays as it is',
  );

  const same = await home.what_if(...order);
  assert.deepEqual([same.run, same.cells], [run, cells]);
  assert.equal(readFileSync(home.log, 'utf8').length, 4, 'nothing was done again');

  const tree = cells[1]?.tree?.slice(0, 8) as string;
  runGit(home.work, 'clean', '--force', '--quiet');
  const merged = await home.run(['merge', tree]);
  assert.match(merged.stdout, /^main \(coppice\/\w{8}-what-if\): merged as /, merged.stderr);
  assert.equal(readFileSync(join(home.work, 'new.js'), 'utf8'), 'process.exit(3);\n');
  await home.run(['send', tree, 'once again']);
  assert.equal((await home.run(['resume', tree])).stdout, 'Again by b.\n');
});

it('another prompt takes the place of the message of a person; a worktree has what agents had written, and nothing else that is not committed', async () => {
  const home = await whatIfHome();
  const { cells, best } = await home.what_if(
    '--at',
    '1',
    '--prompt',
    '../b.json',
    '--times',
    '2',
    '--schema',
    '../a.json',
  );
  assert.deepEqual(
    cells.map(({ name, schema_fault, passed }) => [name, schema_fault, passed]),
    ['1', '2'].map((n) => [`b.json ${n}`, 'it is no JSON', false]),
  );
  assert.equal(best, null);
  const check = 'test -e new.js && test ! -e private';
  writeFileSync(join(home.work, 'private'), '');
  const late = await home.what_if('--at', `${home.at + 1}`, '--check', check);
  assert.deepEqual(
    late.cells.map(({ name, check, files }) => [name, check, files]),
    [['unchanged', 'ok', []]],
  );
});

it('is refused at the start where no worktree can be made, and for an empty prompt; models without a price, on this machine, go on without a limit unless one is named; with another limit the order is another one', async () => {
  const verdict = { best: '2', why: 'the second' };
  const server = await startOpenAiChatServer({
    answer: ({ messages }) =>
      JSON.stringify(messages).includes('The candidates')
        ? { calls: [{ name: 'submit_result', input: { result: verdict } }] }
        : { text: 'hi' },
  });
  after(() => server.close());
  const home = makeHome();
  home.configure({ providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } } });
  const { id } = JSON.parse((await home.run(['run', 'go', '--model', 'local/m', '--json'])).stdout);
  const nowhere = await home.run(['what-if', id, '--at', '1', '--times', '2']);
  assert.equal(nowhere.code, 1, nowhere.stdout);
  assert.match(nowhere.stderr, /^error: no worktree .*\(E_REFUSED\)\n {2}With --here \(/s);
  writeFileSync(join(home.work, 'empty.md'), '\n');
  const empty = await home.run(['what-if', id, '--at', '1', '--prompt', 'empty.md', '--here']);
  assert.equal(empty.code, 2, empty.stdout);
  assert.match(empty.stderr, /^error: the prompt "empty.md" is empty/);
  const { agents } = JSON.parse((await home.run(['ps', '--all', '--json'])).stdout);
  assert.equal(agents.length, 1, 'no run was begun');

  const order = ['what-if', id, '--at', '1', '--times', '2', '--here'];
  const { code, stdout, stderr } = await home.run(order);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /together at most 2\.0M tokens and \$5 of models with a price$/m);
  assert.doesNotMatch(stderr, /\{"/, 'progress has no JSON');
  assert.equal(stdout.match(/ done /g)?.length, 2, stdout);
  const judged = JSON.parse((await home.run([...order, '--judge', 'Which?', '--json'])).stdout);
  assert.deepEqual([judged.best, judged.why], ['2', 'the second']);
  const named = await home.run([...order, '--limit', 'cost=1']);
  assert.match(named.stderr, /together at most \$1$/m);
  assert.match(named.stderr, /what local\/m costs is not known.*--limit cost=none/);
  const free = await home.run([...order, '--limit', 'cost=none']);
  assert.match(free.stderr, /without a limit$/m);
  assert.equal(free.code, 0, free.stderr);
});
