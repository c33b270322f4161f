/** Proves that saved workflows are tools of `coppice mcp`, which run where a rule allows it, and that their results are collected as those of other long calls. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { RULES } from '../workflows/run-workflow.ts';
import { type McpClient, startClient, writeRules } from './mcp-client.ts';

after(closeOpened);

for (const era of ['modern', 'legacy'] as const)
  describe(`workflows as tools of a client of the ${era} protocol`, () => {
    const home = makeHome();
    let client: McpClient;
    before(async () => {
      const folder = join(home.work, '.coppice', 'workflows');
      mkdirSync(folder, { recursive: true });
      const save = (name: string, body: string) =>
        writeFileSync(
          join(folder, `${name}.js`),
          `export const meta = { name: '${name}', description: 'About ${name}.' };\n${body}`,
        );
      save('review', "return { said: await agent('say ' + args.what), bad: await agent('fail') };");
      save('hang', "return agent('hang', { label: 'inner' });");
      save('denied', 'return 1;');
      save('odd name', 'return 1;');
      writeFileSync(join(folder, 'broken.js'), 'return 1;');
      await home.run(['trust', '--yes']);
      save('untrusted', 'return 1;');
      const args = ['--allow', 'workflow:review', '--allow', 'workflow:hang'];
      client = await startClient(home, writeRules(home, [...RULES]), { era, args });
    });

    it('lists those that can run, with what they say of themselves', async () => {
      const { result } = await client.ask('tools/list');
      const tools = result?.tools as { name: string; description: string; inputSchema: object }[];
      const names = tools.map(({ name }) => name);
      assert.deepEqual(names, [...names].sort());
      const own = tools.filter(({ name }) => name.startsWith('workflow_'));
      assert.deepEqual(
        own.map(({ name }) => name),
        ['workflow_denied', 'workflow_hang', 'workflow_review'],
      );
      assert.match(own[2]?.description ?? '', /^About review\. /);
    });

    it('returns the result, in which failures come first', async () => {
      const { value } = await client.tool('workflow_review', {
        args: { what: 'x' },
        budget: { tokens: 9_000 },
      });
      const [row] = value.results;
      assert.deepEqual([row?.name, row?.outcome], ['review', 'done']);
      assert.match(
        row?.last_reply ?? '',
        /^Of 2 agents 1 failed:\n- fail: .*\n\n\{"said":"x","bad":null\}$/s,
      );
    });

    it('goes on beyond the wait of a call, and is ended as any agent', async () => {
      const { value } = await client.tool('list_agents');
      assert.equal(value.agents.filter(({ name }) => name === 'review').length, 1);
      const call = client.tool('workflow_hang');
      await until(async () =>
        (await client.tool('list_agents')).value.agents.some(({ name }) => name === 'inner'),
      );
      const { value: killed } = await client.tool('kill', { agent_id: 'hang' });
      assert.equal(killed.killed?.length, 2);
      assert.equal((await call).value.results[0]?.status, 'dead');
    });

    it('steers its own runs, skips and retries their agents, and runs one again', async () => {
      const steer = async (agent_id: string, order: string) =>
        (await client.tool('steer_workflow', { agent_id, order })).value as unknown as Record<string, string>;
      // Its answer may be on its way when the client ends.
      void client.tool('workflow_hang', {}).catch(() => undefined);
      const listed = async () =>
        (await client.tool('list_agents', {})).value.agents as unknown as readonly Record<string, string>[];
      const inner = async () => (await listed()).filter(({ name }) => name === 'inner');
      await until(async () => (await inner()).length > 0, 'the agent of the run');
      const run = (await listed()).findLast(({ name }) => name === 'hang')?.agent_id ?? '';
      const first = (await inner()).at(-1)?.agent_id ?? '';
      for (const order of ['pause', 'resume', 'stop', 'resume'])
        assert.equal((await steer(run, order)).ordered, order);
      assert.equal((await steer(first, 'retry')).ordered, 'retry');
      const successor = async () => (await inner()).find(({ agent_id }) => agent_id !== first);
      await until(async () => (await successor()) !== undefined, 'its successor');
      assert.match(JSON.stringify(await steer(run, 'rerun')), /still at work/);
      assert.equal((await steer((await successor())?.agent_id ?? '', 'skip')).ordered, 'skip');
      await until(async () => (await steer(run, 'rerun')).agent_id !== undefined, 'a new run');
      assert.match(JSON.stringify(await steer('none-such', 'pause')), /no agent/);
    });

    it('refuses one that no rule allows, wrong arguments and unknown names', async () => {
      const denied = await client.tool('workflow_denied');
      assert.deepEqual([denied.is_error, /no rule allows it/.test(JSON.stringify(denied.raw))], [true, true]);
      assert.equal((await client.tool('workflow_review', { arg: 1 })).is_error, true);
      assert.equal((await client.tool('workflow_broken')).is_error, true);
      for (const name of ['workflow_none', 'workflow_../review', 'workflow_odd name', 'workflow_'])
        assert.match(
          (await client.ask('tools/call', { name, arguments: {} })).error?.message ?? '',
          /no tool/,
        );
    });
  });
