// Proves on real processes, on both databases, with a scripted model and an HTTP provider that answer immediately: a wait ends when the awaited agents have
// ended, a letter in the same message as the wait counts, and the same holds for `coppice wait`. A wait that missed its wake-up would end the run by its
// timeout.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import type { Exchange } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

const fork = (name: string) => ({ name: 'fork', input: { name, prompt: `be ${name}` } });
const wait = (...from_agents: string[]) => ({ name: 'wait', input: { timeout: 600, from_agents } });
const SHOW = { when: { root: true }, say: '{{results.wait.-1}}' };
const step = (at: number, ...calls: object[]) => ({ when: { root: true, step: at }, calls });

interface Row {
  readonly agent_id: string;
  readonly name: string;
  readonly status: string;
  readonly last_reply?: string;
}

onBothDatabases('a wait in a process of its own', (database) => {
  let home: Home;
  before(() => {
    home = makeHome();
  });

  async function run(rules: object[] | null, url: string | undefined): Promise<Row[]> {
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
    const where = url === undefined ? [] : ['--database', url];
    const model = rules === null ? 'local/m' : 'scripted:rules.json';
    const result = await home.run(['run', 'go', '--model', model, '--timeout', '60', '--json', ...where]);
    assert.equal(result.code, 0, result.stderr);
    return JSON.parse(JSON.parse(result.stdout).reply).results;
  }

  it('ends with three children that rest at once', async () => {
    const names = ['a', 'b', 'c'];
    const rows = await run(
      [step(0, ...names.map(fork)), step(1, wait(...names)), SHOW, { say: 'I am {{agent.name}}' }],
      await database(),
    );
    assert.deepEqual(
      rows.map(({ name, status, last_reply }) => [name, status, last_reply]),
      names.map((name) => [name, 'idle', `I am ${name}`]),
    );
  });

  it('shows what came of a letter in the same message, and so does coppice wait', async () => {
    const url = await database();
    const letter = { name: 'send', input: { to: 'b', message: 'again' } };
    const rows = await run(
      [
        step(0, fork('b')),
        step(1, wait('b')),
        step(2, wait('b'), letter),
        SHOW,
        { when: { step: 0 }, say: 'old' },
        { say: 'new' },
      ],
      url,
    );
    assert.deepEqual(
      rows.map(({ status, last_reply }) => [status, last_reply]),
      [['idle', 'new']],
    );
    // Nobody leads the tree any more: with a letter unread, its agent counts as running.
    const b = rows[0]?.agent_id as string;
    const where = url === undefined ? [] : ['--database', url];
    assert.equal((await home.run(['send', b, 'more', ...where])).code, 0);
    const waited = await home.run(['wait', b, '--timeout', '0', '--json', ...where]);
    assert.deepEqual([waited.code, JSON.parse(waited.stdout).results[0].status], [5, 'running']);
  });

  it('goes on with the others when one of the agents is deleted with its run', async () => {
    const spawn = (label: string, cleanup: string) => ({
      name: 'sessions_spawn',
      input: { task: `be ${label}`, label, cleanup },
    });
    const untilThere = (file: string) => ({
      name: 'bash',
      input: { command: `until [ -e ${file} ]; do sleep 0.1; done` },
    });
    // Only time tells that the command has found the agents that it waits for: on a machine on which the first pause is too short, there is another one.
    const tries = [1_500, 6_000, 20_000].map((pause_ms, index) => ({ pause_ms, brief: `brief-${index}` }));
    const rules = [
      step(0, ...tries.map(({ brief }) => spawn(brief, 'delete')), spawn('kept', 'keep')),
      ...tries.map(({ brief }) => ({
        when: { agent: brief, step: 0 },
        calls: [untilThere(`${brief}.end`)],
      })),
      { when: { agent: 'kept', step: 0 }, calls: [untilThere('kept.end')] },
      { say: 'I am {{agent.name}}' },
    ];
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
    const url = await database();
    const where = url === undefined ? [] : ['--database', url];
    const model = ['--model', 'scripted:rules.json', '--toolset', 'sessions', '--yes'];
    const run = home.start(['run', 'go', ...model, ...where]);
    const listed = async () => (await home.run(['ps', '--all', ...where])).stdout;
    const all = [...tries.map(({ brief }) => brief), 'kept'];
    await until(async () => {
      const shown = await listed();
      return all.every((name) => shown.includes(` ${name} `));
    }, 'all agents');
    let waited = { code: 1 as number | null, stdout: '', stderr: '' };
    for (const { pause_ms, brief } of tries) {
      const waiting = home.run(['wait', brief, 'kept', '--timeout', '60', '--json', ...where]);
      await sleep(pause_ms);
      writeFileSync(join(home.work, `${brief}.end`), '');
      await until(async () => !(await listed()).includes(` ${brief} `), 'one agent is deleted');
      // The command looks again every two seconds.
      await sleep(2_500);
      writeFileSync(join(home.work, 'kept.end'), '');
      waited = await waiting;
      if (waited.code === 0) break;
      assert.match(waited.stderr, new RegExp(`no agent .*${brief}`));
    }
    assert.equal(waited.code, 0, waited.stderr);
    const { results } = JSON.parse(waited.stdout) as { readonly results: readonly Row[] };
    assert.deepEqual(
      results.map(({ name, last_reply }) => [name, last_reply]),
      [['kept', 'I am kept']],
    );
    for (const { brief } of tries) writeFileSync(join(home.work, `${brief}.end`), '');
    await run.ended;
  });

  it('for a whole tree also waits for agents that are created meanwhile', async () => {
    const untilThere = (file: string) => ({
      name: 'bash',
      input: { command: `until [ -e ${file} ]; do sleep 0.1; done` },
    });
    const rules = [
      step(0, fork('early')),
      { when: { agent: 'early', step: 0 }, calls: [untilThere('early.end')] },
      { when: { agent: 'early', step: 1 }, calls: [fork('late')] },
      { when: { agent: 'late', step: 0 }, calls: [untilThere('late.end')] },
      { say: 'I am {{agent.name}}' },
    ];
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
    const url = await database();
    const where = url === undefined ? [] : ['--database', url];
    const run = home.start(['run', 'go', '--model', 'scripted:rules.json', '--yes', ...where]);
    const listed = async () => (await home.run(['ps', '--all', ...where])).stdout;
    await until(async () => / early /.test(await listed()), 'the first child');
    const waiting = home.run(['wait', '--timeout', '60', '--json', ...where]);
    await sleep(1_000);
    writeFileSync(join(home.work, 'early.end'), '');
    await until(async () => / late /.test(await listed()), 'the second child');
    await sleep(1_000);
    writeFileSync(join(home.work, 'late.end'), '');
    const { code, stdout, stderr } = await waiting;
    assert.equal(code, 0, stderr);
    const { results } = JSON.parse(stdout) as { readonly results: readonly Row[] };
    const rows = results.map(({ name, last_reply }) => `${name}: ${last_reply}`);
    assert.deepEqual(rows.slice(1), ['early: I am early', 'late: I am late'], stdout);
    await run.ended;
  });

  it('ends over HTTP, too', async () => {
    const server = await startOpenAiChatServer({
      answer: ({ messages }: Exchange) => {
        const users = messages.filter(({ role }) => role === 'user');
        if (users.some(({ text }) => text.includes('You are now "b"'))) return { text: 'report' };
        const outputs = messages.flatMap(({ results }) => results.map(({ output }) => output));
        if (outputs.length === 0) return { calls: [fork('b')] };
        if (outputs.length === 1) return { calls: [wait('b')] };
        return { text: outputs.at(-1) as string };
      },
    });
    home.configure({ providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } } });
    try {
      assert.deepEqual(
        (await run(null, await database())).map(({ last_reply }) => last_reply),
        ['report'],
      );
    } finally {
      await server.close();
    }
  });
});
