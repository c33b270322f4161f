/** Proves that recorded cases are run with several prompts, each run in a worktree of its own, that the prompt that does best over all of them is named, and that the same order does nothing again. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { runGit } from '../runtime/worktree/git-repository.ts';
import { makeHome } from './run-cli.ts';

type WhatIf = DocumentOf<'coppice/what-if/v1'>;

const VERDICT = { best: 'second.json quick.md', why: 'it is short' };
const RULES = [
  { when: { agent: 'judge' }, calls: [{ name: 'submit_result', input: { result: VERDICT } }] },
  { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'pwd >> ran' } }] },
  { when: { user: '^Take care' }, say: '{ "right": true }' },
  { when: { user: '^Be quick[^]*second task' }, say: '{ "right": true }' },
  { say: '{ "right": "perhaps" }' },
];

async function tournamentHome() {
  const home = makeHome();
  writeFileSync(join(home.folder, 'rules.json'), JSON.stringify({ rules: RULES }));
  home.configure({ model: 'scripted:../rules.json' });
  await runGit(home.work, 'init', '--quiet', '--initial-branch=main');
  mkdirSync(join(home.folder, 'cases'));
  for (const name of ['first', 'second']) {
    const { code, stdout, stderr } = await home.run(['run', `the ${name} task`, '--yes', '--json']);
    assert.equal(code, 0, stderr);
    const made = await home.run(['record', JSON.parse(stdout).id, '--out', `../cases/${name}.json`]);
    assert.equal(made.code, 0, made.stderr);
  }
  await runGit(home.work, 'clean', '--force', '--quiet');
  writeFileSync(join(home.work, 'code.js'), '');
  await runGit(home.work, 'add', '.');
  await runGit(home.work, 'commit', '--quiet', '--message', 'first');
  writeFileSync(join(home.folder, 'careful.md'), 'Take care: {{task}}, then look again.\n');
  writeFileSync(join(home.folder, 'quick.md'), 'Be quick.\n');
  const schema = { type: 'object', properties: { right: { type: 'boolean' } }, required: ['right'] };
  writeFileSync(join(home.folder, 'schema.json'), JSON.stringify(schema));
  const order = ['tournament', '../cases/first.json', '../cases/second.json', '--yes'];
  const prompts = ['--prompt', '../careful.md', '--prompt', '../quick.md', '--schema', '../schema.json'];
  const run = async (...more: readonly string[]) => {
    const { stdout, stderr } = await home.run([...order, ...prompts, ...more, '--json']);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as WhatIf;
  };
  return { ...home, order: [...order, ...prompts], run_cases: run };
}

it('the prompt with which most runs pass is the best; each run has its task, and a worktree', {
  timeout: 120_000,
}, async () => {
  const home = await tournamentHome();
  const { run, cells, entrants, best, why, of } = await home.run_cases();
  assert.equal(of, null);
  assert.deepEqual(
    cells.map(({ name, case: one, entrant, schema_fault, passed }) => [
      ...[name, one, entrant, schema_fault === 'ok', passed],
    ]),
    [
      ['first.json careful.md', 'first.json', 'careful.md', true, true],
      ['first.json quick.md', 'first.json', 'quick.md', false, false],
      ['second.json careful.md', 'second.json', 'careful.md', true, true],
      ['second.json quick.md', 'second.json', 'quick.md', true, true],
    ],
  );
  assert.deepEqual(
    entrants.map(({ name, runs, passed, won }) => [name, runs, passed, won]),
    [
      ['careful.md', 2, 2, null],
      ['quick.md', 2, 1, null],
    ],
  );
  assert.deepEqual([best, why], ['careful.md', 'it passed 2 of 2']);
  for (const { files } of cells) assert.deepEqual(files, ['ran']);
  assert.equal(new Set(cells.map(({ branch }) => branch)).size, 4, 'each has a branch of its own');
  assert.deepEqual(readdirSync(home.work).sort(), ['.git', 'code.js'], 'the folder stays as it is');
  const { stdout: said } = await home.run(['logs', cells[0]?.tree as string]);
  assert.match(said, /Take care: the first task, then look again\./);
  const { stdout: after } = await home.run(['logs', cells[3]?.tree as string]);
  assert.match(after, /Be quick\.\n+\s*the second task/);

  const again = await home.run(home.order);
  assert.match(again.stderr, new RegExp(`what-if ${run.slice(0, 8)}, as before: 4 runs of recorded cases`));
  assert.match(again.stdout, /^\* careful\.md +2 of 2 /m);
  assert.match(again.stdout, /^best: careful\.md, because it passed 2 of 2$/m);
  assert.doesNotMatch(again.stdout, /coppice merge/);
  assert.equal(again.code, 0, again.stderr);
});

it('a judge says of each case which run is the best', { timeout: 120_000 }, async () => {
  const home = await tournamentHome();
  const { entrants, best, why } = await home.run_cases('--judge', 'Which is shorter?');
  assert.deepEqual(
    entrants.map(({ name, passed, won }) => [name, passed, won]),
    [
      ['careful.md', 2, 1],
      ['quick.md', 1, 1],
    ],
  );
  assert.deepEqual([best, why], ['careful.md', 'it was the best in 1 of 2 cases']);
  const { code, stderr } = await home.run(['tournament', '../rules.json']);
  assert.equal(code, 2);
  assert.match(stderr, /is no recorded case/);
});
