/**
 * Proves that the commands of the first page work in the order in which a newcomer types them: each runs in one home, the first ones without a model, and those
 * that wait for a person are at least valid. The snippet of the page runs in snippets.long.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { createProgram } from '../../src/cli/program.ts';
import { makeHome } from '../cli/run-cli.ts';
import { wordsOf } from '../cli/start/command-words.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs/first-ten-minutes.md'), 'utf8');
const blocks = [...page.matchAll(/^```\n([\s\S]*?)^```$/gm)];
const lines = blocks.flatMap(([, block = '']) => block.trim().split('\n'));

/** They stay until a person ends them, or need a terminal. */
const STAY = new Set(['setup', 'web', 'ps --watch']);

/** What the commands print that the page promises. */
const PROMISED: Readonly<Record<string, RegExp>> = {
  demo: /Report on this folder, by three agents[\s\S]*test-runner/,
  tree: /├ file-reader .*\n├ code-analyzer .*\n└ test-runner/,
  'logs test-runner': /test files/,
};

it('the commands of the page work, one after the other, in a new home', async () => {
  const home = makeHome();
  writeFileSync(join(home.work, 'a.test.ts'), '// TODO: more\n');
  const ran: string[] = [];
  for (const line of lines) {
    const words = wordsOf(line);
    const name = words.join(' ');
    if (STAY.has(name)) {
      const { command, chosen } = createProgram('0.0.0');
      command.parse(words, { from: 'user' });
      assert.notEqual(chosen(), null, line);
      if (name === 'setup') {
        const rules = join(home.folder, 'rules.json');
        writeFileSync(rules, JSON.stringify({ rules: [{ say: 'An answer.' }] }));
        home.configure({ model: `scripted:${rules}` });
      }
      continue;
    }
    const { code, stdout, stderr } = await home.run(words);
    assert.equal(code, 0, `${line}\n${stdout}\n${stderr}`);
    if (PROMISED[name] !== undefined) assert.match(stdout, PROMISED[name]);
    // What `send` wrote is the work that is left for `resume`.
    if (['run', 'resume'].includes(words[0] ?? '')) assert.equal(stdout, 'An answer.\n');
    ran.push(name, words[0] ?? '');
  }
  assert.match(readFileSync(join(home.work, 'demo.html'), 'utf8'), /code-analyzer/);
  for (const name of [...Object.keys(PROMISED), 'run', 'resume']) assert.ok(ran.includes(name), name);
});
