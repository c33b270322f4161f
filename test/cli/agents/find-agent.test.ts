// Proves, on both databases, that a tree gets its title from its task, and that names and commands without an id refer to the newest tree of this folder and
// say so.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { makeHome } from '../run-cli.ts';

function suite(database: () => Promise<string | undefined>): void {
  it('two runs here and one elsewhere', async () => {
    const home = makeHome();
    const other = join(home.folder, 'other');
    mkdirSync(other);
    const rules = join(home.folder, 'rules.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ say: 'done' }] }));
    const url = await database();
    const env = url === undefined ? {} : { DATABASE_URL: url };
    const coppice = (...args: string[]) => home.run(args, { env });
    const run = async (task: string, ...more: string[]) => {
      const { stdout, code } = await coppice('run', task, '--model', `scripted:${rules}`, '--json', ...more);
      assert.equal(code, 0);
      return (JSON.parse(stdout) as { id: string }).id;
    };
    const old = await run('The first task');
    const title = 'Second\u001b[31m task 漢字 with more words than any title has room fo…';
    const here = await run(`\n\n --- \n${title.slice(0, -1)}r, and more\nand a second line`);
    const there = await run('Far away', '--cwd', other);
    const shown = title.replace('\u001b[31m', '');

    const tree = await coppice('tree');
    assert.equal(tree.stdout.split('\n')[0], `${here.slice(0, 8)}  ${shown}`);
    assert.equal(JSON.parse((await coppice('tree', '--json')).stdout).title, shown);
    const logs = await coppice('logs');
    assert.match(logs.stdout, /you: .*\n\n? ?.*Second task/s);
    const named = await coppice('logs', 'main');
    assert.deepEqual(
      [named.code, named.stdout, named.stderr],
      [0, logs.stdout, `main of the tree ${here.slice(0, 8)} (${shown})\n`],
    );
    assert.match(
      (await coppice('show')).stdout,
      new RegExp(`^tree +${here.slice(0, 8)} \\(Second task`, 'm'),
    );
    const elsewhere = await coppice('logs', 'main', '--cwd', other);
    assert.match(elsewhere.stdout, /Far away/);
    assert.match((await coppice('wait')).stdout, /^main +idle/);

    const ps = await coppice('ps');
    for (const task of ['The first task', 'Far away', 'Second task 漢字'])
      assert.match(ps.stdout, new RegExp(`main +○ idle .* ${task}`));
    const { agents } = JSON.parse((await coppice('ps', '--json')).stdout) as {
      agents: { id: string; title: string }[];
    };
    assert.deepEqual(
      new Map(agents.map((agent) => [agent.id, agent.title])),
      new Map([
        [old, 'The first task'],
        [here, shown],
        [there, 'Far away'],
      ]),
    );

    // A tree of another folder is never resumed by mistake; a read-only command shows it and says so.
    const empty = join(home.folder, 'empty');
    mkdirSync(empty);
    const looked = await coppice('tree', '--cwd', empty);
    assert.deepEqual([looked.code, looked.stdout.split('\n')[0]], [0, `${there.slice(0, 8)}  Far away`]);
    assert.match(
      looked.stderr,
      /^no tree works in this folder; the newest of all: [0-9a-f]{8} \(Far away\) in .*other\n$/,
    );
    const resumed = await coppice('resume', '--cwd', empty);
    assert.equal(resumed.code, 3);
    assert.match(resumed.stderr, /no tree works in this folder .*\n.*Far away/);
    // A folder is the same by any path to it. A subfolder of a git repository belongs to the repository's root folder; other subfolders do not.
    const link = join(home.folder, 'link');
    symlinkSync(other, link);
    assert.match((await coppice('logs', '--cwd', link)).stdout, /Far away/);
    const below = join(other, 'src', 'deep');
    mkdirSync(below, { recursive: true });
    assert.equal((await coppice('resume', '--cwd', below)).code, 3);
    mkdirSync(join(other, '.git'));
    const above = await coppice('resume', '--cwd', join(link, 'src', 'deep'));
    assert.equal(above.code, 0);
    assert.match(
      above.stderr,
      /^no tree works in this folder; the newest above: [0-9a-f]{8} \(Far away\) in .*other\n/,
    );
    const ambiguous = await coppice('logs', 'main', '--cwd', empty);
    assert.equal(ambiguous.code, 3);
    assert.match(ambiguous.stderr, /tree [0-9a-f]{8} \(The first task\)\n/);

    assert.equal((await coppice('kill', here, '-y')).code, 0);
    assert.match((await coppice('logs', 'main')).stderr, /Second task/);
    // A different tree is never killed by mistake.
    assert.match((await coppice('kill', 'main', '-y')).stderr, /Second task.*\n.*has ended already/);

    // Of several in other folders, the only living one.
    assert.equal((await coppice('kill', old, '-y')).code, 0);
    const last = await coppice('kill', 'main', '-y', '--cwd', empty);
    assert.deepEqual([last.code, last.stderr], [0, `main of the tree ${there.slice(0, 8)} (Far away)\n`]);

    if (url === undefined) {
      const { stdout } = await coppice('__complete', 'logs', 'ma');
      assert.match(stdout, /^main\t.*Second task/m);
    }
  });
}

onBothDatabases('names and titles', suite);
