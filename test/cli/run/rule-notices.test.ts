/** Proves that whoever starts a run with a rule that allows all calls of a program is told what the program can do. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

it('a rule for all calls of a program that runs code or other programs is told about on stderr, others are not', async () => {
  const home = makeHome();
  const file = join(home.folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ rules: [{ say: 'done' }] }));
  const rules = ['bash:cmake *', 'bash:python3 *', 'bash:ls *', 'bash:git status *'];
  const allow = rules.flatMap((rule) => ['--allow', rule]);
  const { code, stdout, stderr } = await home.run([
    ...['run', '--model', `scripted:${file}`, ...allow],
    ...['--deny', 'bash:sudo *', 'go'],
  ]);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /^bash:cmake \*: cmake can run other programs; calls in which it does still ask, unless/m,
  );
  assert.match(stderr, /^bash:python3 \* allows any code: python3 runs what it is given$/m);
  assert.doesNotMatch(stderr + stdout, /bash:(?:ls|git|sudo)/);
});
