// Proves that mistakes in what a run is started with are told in words that say what to do, before anything starts.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeHome } from '../run-cli.ts';

const home = makeHome();
const rules = join(home.work, 'rules.json');
writeFileSync(rules, JSON.stringify({ rules: [{ say: 'done' }] }));
const RUN = ['run', 'hi', '--model', `scripted:${rules}`];

describe('a mistake', () => {
  it('in a model that is to stand in for another one', async () => {
    const configure = (fallback: string) =>
      home.configure({ agents: { defaults: { fallback: [fallback] } } });
    configure('antropic/claude-haiku-4-5');
    const { code, stderr } = await home.run(RUN);
    assert.deepEqual([code, /no provider called "antropic"/.test(stderr)], [2, true], stderr);
    const { stdout } = await home.run(['doctor']);
    assert.match(
      stdout,
      /missing +model +antropic\/claude-haiku-4-5 \(fallback\): no provider called "antropic"/,
    );
    // A key that is missing is no mistake: the model stands in for nothing.
    configure('anthropic/claude-haiku-4-5');
    assert.equal((await home.run(RUN)).code, 0);
    home.configure({});
  });

  it('in flags that choose who leads a tree, where this process does', async () => {
    for (const flags of [['--label', 'gpu'], ['--anywhere']]) {
      const { code, stderr } = await home.run([...RUN, ...flags]);
      assert.deepEqual([code, /only with --detach/.test(stderr)], [2, true], stderr);
    }
    const { stderr } = await home.run(['workflow', 'run', 'x', '--label', 'gpu']);
    assert.match(stderr, /unknown option '--label'/);
  });

  it('in the name of the configuration', async () => {
    const { code, stderr } = await home.run([...RUN, '--config', 'none.json']);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /the configuration \S*none\.json cannot be read: there is no such file \(E_CONFIG\)/,
    );
  });

  it('in a saved workflow', async () => {
    const folder = join(home.work, '.coppice', 'workflows');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'broken.js'), "import fs from 'node:fs';\n");
    const { stderr } = await home.run(RUN);
    assert.match(stderr, /broken\.js is ignored: line 1 of the workflow script: its first statement must be/);
    const text = "export const meta = { name: 'look-twice', description: 'd' };\nreturn 1;\n";
    writeFileSync(join(folder, 'look.js'), text);
    const { stderr: unknown } = await home.run(['workflow', 'run', 'look-twice']);
    assert.match(unknown, /look\.js calls itself so: name it look, as its file/);
  });

  it('of the clock is told once', async () => {
    const time = ['--at', '2051-03-26 02:30', '--tz', 'Europe/Berlin'];
    const { stderr } = await home.run([
      'cron',
      'add',
      'gap',
      ...time,
      '--task',
      'x',
      '--model',
      `scripted:${rules}`,
    ]);
    assert.equal(stderr.match(/does not exist, the clock is set forward over it/g)?.length, 1, stderr);
  });
});
