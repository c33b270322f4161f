// Proves `coppice worker` from an operator's point of view: entered trees are led, labels are obeyed, a killed worker's trees continue elsewhere, drains
// complete.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Databases, sharedPostgres } from '../../postgres/shared-postgres.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const RULES = {
  rules: [
    { when: { user: '^slow' }, delay_ms: 2_500, say: 'slow but sure' },
    {
      when: { user: '^deadly', tool: 'bash' },
      calls: [{ name: 'bash', input: { command: 'kill -9 $PPID' } }],
    },
    { when: { user: '^deadly' }, calls: [{ name: 'bash', input: { command: 'kill -9 $PPID' } }] },
    { when: {}, say: 'answered {{user}}' },
  ],
};

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`coppice worker on ${kind}`, { timeout: 300_000 }, () => {
    let home: Home;
    let server: Databases | null = null;
    let store: Store;
    let database: string;
    const workers: ReturnType<Home['start']>[] = [];
    const model = ['--model', 'scripted:rules.json'];

    before(async () => {
      home = makeHome();
      writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
      if (kind === 'PostgreSQL') server = await sharedPostgres();
      database = server === null ? home.database : await server.createDatabase();
      store = await openStore(database);
    });
    after(async () => {
      for (const { child, ended } of workers) {
        child.kill('SIGKILL');
        await ended;
      }
      await store.close();
      await server?.stop();
    });

    const enter = async (prompt: string, ...args: readonly string[]): Promise<string> => {
      const result = await home.run([
        'run',
        prompt,
        '--detach',
        '--json',
        '--database',
        database,
        ...model,
        ...args,
      ]);
      assert.equal(result.code, 0, result.stderr);
      return (JSON.parse(result.stdout) as { id: string }).id;
    };
    const start = (...args: readonly string[]) => {
      const worker = home.start(['worker', '--log', 'json', '--database', database, ...model, ...args]);
      workers.push(worker);
      return worker;
    };
    const replies = (id: string, reply: string) =>
      until(async () => (await store.agent(id))?.reply === reply, `${id} answers "${reply}"`);
    const listed = async () => {
      const { stdout } = await home.run(['worker', 'list', '--json', '--database', database]);
      return (
        JSON.parse(stdout) as {
          workers: { id: string; pid: number; state: string; labels: string[] }[];
        }
      ).workers;
    };

    it('leads what was entered, and follows letters that come later', async () => {
      const early = await enter('before anybody works');
      start();
      await replies(early, 'answered before anybody works');
      const late = await enter('with a worker');
      await replies(late, 'answered with a worker');
      assert.equal((await home.run(['send', late, 'and more', '--database', database])).code, 0);
      await replies(late, 'answered and more');
    });

    it('a tree that is bound to another machine is not resumed here', async () => {
      const id = await enter('work over there', '--label', 'host:elsewhere', '--anywhere');
      const { code, stderr } = await home.run(['resume', id, '--database', database, ...model]);
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /bound to another machine: elsewhere[\s\S]*Start coppice --database \S+ worker on that machine/,
      );
      assert.equal((await store.agent(id))?.worker, null);
    });

    it('leaves trees alone that ask for labels which it does not have', async () => {
      const id = await enter('needs a gpu', '--label', 'gpu');
      const other = await enter('needs nothing');
      await replies(other, 'answered needs nothing');
      assert.equal((await store.agent(id))?.worker, null);
      start('--labels', 'gpu,eu');
      await replies(id, 'answered needs a gpu');
      const labels = (await listed()).flatMap((one) => one.labels);
      assert.ok(
        labels.includes('gpu') && labels.includes('eu') && labels.some((one) => one.startsWith('host:')),
      );
    });

    it('a worker that is killed loses its trees to the others, and they end right', async () => {
      const ids = await Promise.all(['slow 1', 'slow 2', 'slow 3'].map((prompt) => enter(prompt)));
      await until(
        async () =>
          (await Promise.all(ids.map((id) => store.agent(id)))).every((agent) => agent?.worker != null),
        'they are led',
      );
      const [first] = workers;
      first?.child.kill('SIGKILL');
      await first?.ended;
      for (const id of ids) await replies(id, 'slow but sure');
    });

    it('drains when told to: it takes nothing more, and stops on its own', async () => {
      const worker = start();
      const entry = async () => (await listed()).find(({ pid }) => pid === worker.child.pid);
      await until(async () => (await entry())?.state === 'works', 'it works');
      const one = await entry();
      const told = await home.run(['worker', 'drain', one?.id.slice(0, 8) ?? '', '--database', database]);
      assert.match(told.stdout, /drains\n$/);
      const { code, stderr } = await worker.ended;
      assert.equal(code, 0, stderr);
      const unknown = await home.run(['worker', 'drain', 'nobody', '--database', database]);
      assert.equal(unknown.code, 3);
    });

    it('an agent whose call kills its worker three times is quarantined, and the others live on', async () => {
      const id = await enter('deadly', '--yes');
      const quarantined = async () => {
        const agent = await store.agent(id);
        return agent?.state.type === 'errored' && agent.state.failure.kind === 'quarantined';
      };
      for (let deaths = 0; deaths < 8 && !(await quarantined()); deaths += 1) {
        const worker = start();
        await Promise.race([worker.ended, until(quarantined, 'it is quarantined')]);
      }
      const agent = await store.agent(id);
      assert.ok(agent?.state.type === 'errored', JSON.stringify(agent?.state));
      assert.match(
        agent.state.failure.error,
        /^quarantined: its process died 3 times while running the same call$/,
      );
      const after = await enter('still there?');
      start();
      await replies(after, 'answered still there?');
    });
  });
}
