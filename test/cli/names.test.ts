/**
 * Proves that names and labels from the command line and the configuration must be one printable line: others are refused, and shown with unsafe
 * characters made visible.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { visibleLine } from '../../src/records/agent/agent-name.ts';
import { makeHome } from './run-cli.ts';

const BAD = ['a\nb', 'a\u001b[2Jb', 'a\u202eb'];

const home = makeHome();
const rules = join(home.folder, 'rules.json');
writeFileSync(rules, JSON.stringify({ rules: [{ say: 'done' }] }));

for (const [what, argsOf] of Object.entries<(bad: string) => string[]>({
  'run --name': (bad) => ['run', '--model', `scripted:${rules}`, '--name', bad, 'go'],
  'run --label': (bad) => ['run', '--detach', '--model', `scripted:${rules}`, '--label', bad, 'go'],
  'cron add': (bad) => ['cron', 'add', bad, '--every', '1h', '--task', 'go'],
  'worker --labels': (bad) => ['worker', '--labels', `gpu,${bad}`],
}))
  it(`${what}`, async () => {
    const all = await Promise.all(BAD.map((bad) => home.run(argsOf(bad))));
    for (const { code, stderr } of all) {
      assert.notEqual(code, 0, stderr);
      assert.match(stderr, /visible characters/);
      for (const line of stderr.split('\n')) assert.equal(line.trim(), visibleLine(line));
    }
  });

it('names of profiles and programs in the configuration', async () => {
  for (const part of ['agents', 'acp']) {
    for (const bad of BAD) {
      home.configure({ [part]: { [bad]: part === 'acp' ? { command: 'x' } : {} } });
      const { code, stderr } = await home.run(['run', '--model', `scripted:${rules}`, 'go']);
      assert.notEqual(code, 0, stderr);
      for (const line of stderr.split('\n')) assert.equal(line.trim(), visibleLine(line));
    }
  }
});
