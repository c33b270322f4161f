// Proves, on both databases, that an unled tree that no running worker may lead does not look as if it were at work: every command says so, why, and what
// would help.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

function suite(database: () => Promise<string | undefined>): void {
  it('says that nobody leads it, why, and what would help; a worker with the label takes it', async () => {
    const home = makeHome();
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'it is done' }] }));
    const url = await database();
    const env = { COPPICE_HOST: 'alpha', ...(url === undefined ? {} : { DATABASE_URL: url }) };
    const coppice = (...args: string[]) => home.run(args, { env });
    const other = home.start(['worker', '--labels', 'eu'], { env });
    const detach = ['run', 'hello', '--detach', '--label', 'gpu', '--model', 'scripted:rules.json'];
    const entered = await coppice(...detach);
    const id = entered.stdout.trim();
    const short = id.slice(0, 8);
    const said =
      /no process leads it, because no worker with the label gpu is running: start coppice worker --labels gpu, or go on here with coppice resume [0-9a-f]{8}\n/;
    assert.match(entered.stderr, said);

    const ps = await coppice('ps');
    assert.match(ps.stdout, /main +– unled /);
    assert.match(ps.stdout, said);
    assert.match(ps.stdout, new RegExp(`^${short}: no process leads it`, 'm'));
    const { agents } = JSON.parse((await coppice('ps', '--json')).stdout) as {
      agents: { status: string; state: string; unled: { why: string; next: string } | null }[];
    };
    assert.equal(agents[0]?.status, 'unled');
    assert.match(`${agents[0]?.unled?.why}: ${agents[0]?.unled?.next}\n`, said);
    const tree = await coppice('tree', short);
    assert.match(tree.stdout, /main +– unled/);
    assert.match(tree.stdout, said);
    const show = await coppice('show', short);
    assert.match(show.stdout, /status +– unled\n/);
    assert.match(show.stdout, said);
    const waited = await coppice('wait', short, '--timeout', '1', '--json');
    assert.equal(waited.code, 5);
    assert.match(waited.stderr, said);
    assert.deepEqual(Object.keys(JSON.parse(waited.stdout).results[0]), [
      'agent_id',
      'root_id',
      'name',
      'status',
      'last_reply',
      'unled',
      'outcome',
      'outcome_text',
    ]);

    assert.match((await coppice('wait', short, '--timeout', '0.1')).stdout, /^main +unled /);

    // A tree bound to another machine cannot be continued here.
    if (url !== undefined) {
      const far = await home.run(detach, { env: { ...env, COPPICE_HOST: 'beta' } });
      const elsewhere = await coppice('wait', far.stdout.trim(), '--timeout', '0.1');
      assert.match(
        elsewhere.stderr,
        /no worker with the label gpu is running on the machine beta: start coppice worker --labels gpu on the machine beta\n/,
      );
    }

    const following = home.start(['logs', '-f', short], { env });
    let followed = '';
    following.child.stderr?.on('data', (text: string) => {
      followed += text;
    });
    await until(() => said.test(followed), 'who follows it is told');

    const waiting = coppice('wait', short, '--timeout', '60');
    const worker = home.start(['worker', '--labels', 'gpu'], { env });
    const { code, stdout } = await waiting;
    assert.equal(code, 0);
    assert.match(stdout, /main +idle +it is done/);
    assert.doesNotMatch((await coppice('ps', '--tree', short)).stdout, /no process|unled/);
    for (const one of [following, other, worker]) one.child.kill('SIGTERM');
    await Promise.all([following.ended, other.ended, worker.ended]);
  });

  it('a run whose process was killed is not at work, and says how to go on as it was', async () => {
    const home = makeHome();
    const rules = [{ delay_ms: 600_000, say: 'never' }];
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
    const url = (await database()) ?? `sqlite:${join(home.folder, 'a folder', 'ledger.db')}`;
    const flags = ['--database', url];
    const run = home.start(['run', 'hello', '--model', 'scripted:rules.json', ...flags]);
    await until(async () => /main +◐ running/.test((await home.run(['ps', ...flags])).stdout), 'it runs');
    run.child.kill('SIGKILL');
    await run.ended;
    const { stdout } = await home.run(['ps', ...flags]);
    assert.match(stdout, /main +– unled/);
    const shown = url.startsWith('sqlite:') ? `'${url}'` : url;
    assert.ok(stdout.includes(`: no process leads it: resume it with coppice resume `), stdout);
    assert.ok(stdout.includes(` --database ${shown}\n`), stdout);
    for (const command of ['tree', 'show']) {
      const { stdout: told } = await home.run([command, ...flags]);
      assert.equal(told.match(/no process leads it/g)?.length, 1, told);
    }
  });
}

onBothDatabases('trees that nobody leads', suite);
