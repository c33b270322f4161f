// Proves, on both databases, that `coppice kill` ends several agents at once with all their descendants: all named agents or none, each once, dead ones left
// out.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { makeHome } from '../run-cli.ts';

const forks = (...names: string[]) =>
  names.map((name) => ({ name: 'fork', input: { name, prompt: `be ${name}` } }));
const RULES = {
  rules: [
    { when: { root: true, step: 0 }, calls: forks('a', 'b', 'c') },
    { when: { agent: 'a', step: 0 }, calls: forks('below') },
    { say: 'done' },
  ],
};

onBothDatabases('coppice kill with several ids', (database) => {
  it('ends all of them, or none', async () => {
    const home = makeHome();
    const rules = join(home.folder, 'rules.json');
    writeFileSync(rules, JSON.stringify(RULES));
    const url = await database();
    const env = url === undefined ? {} : { DATABASE_URL: url };
    const coppice = (...args: string[]) => home.run(args, { env });
    const living = async (): Promise<string[]> => {
      const { agents } = JSON.parse((await coppice('ps', '--json')).stdout);
      const alive = (agents as { name: string; status: string }[]).filter(({ status }) => status !== 'dead');
      return alive.map(({ name }) => name).sort();
    };
    assert.equal((await coppice('run', 'go', '--model', `scripted:${rules}`)).code, 0);
    assert.deepEqual(await living(), ['a', 'b', 'below', 'c', 'main']);

    const nobody = await coppice('kill', 'a', 'nobody', '-y');
    assert.equal(nobody.code, 3);
    assert.match(nobody.stderr, /nobody/);
    assert.deepEqual(await living(), ['a', 'b', 'below', 'c', 'main'], 'all that are named or none');

    const several = await coppice('kill', 'below', 'a', 'b', 'a', '-y');
    assert.equal(several.stdout, 'killed below, a, b\n');
    assert.deepEqual(await living(), ['c', 'main']);

    const again = await coppice('kill', 'a', 'b', '-y');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /a, b have ended already/);
    const { killed } = JSON.parse((await coppice('kill', 'a', 'c', '-y', '--json')).stdout);
    assert.equal(killed.length, 1, 'the dead are left out');
    assert.deepEqual(await living(), ['main']);
  });
});
