// Proves `coppice run --toolset slash` from a user's point of view: the model sees only bash and slash, works with both, and never has two vocabularies.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { slashToolset } from '../../../src/kernel/toolsets/slash/slash.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { noticesOf, shownLetters } from '../../runtime/toolsets/slash-stage.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { type Home, makeHome } from '../run-cli.ts';

const slash = (command: string) => ({ name: 'slash', input: { command } });
const bash = (command: string) => ({ name: 'bash', input: { command } });

const RULES = {
  rules: [
    { when: { root: true, step: 0 }, calls: [slash('fork "Count the words."')] },
    { when: { root: true, tool: 'slash', result: 'completion' }, say: '{{result.0.completion.summary}}' },
    { when: { root: true, user: '^got mail from ' }, calls: [slash('/slash check-mail')] },
    { when: { root: true }, say: 'I wait.' },
    { when: { step: 0 }, calls: [bash('printf two')] },
    {
      when: { step: 1 },
      calls: [
        slash(`send {{parent_id}} '{"status": "idle", "success": true, "summary": "{{results.bash.0}}"}'`),
      ],
    },
    { say: 'Reported.' },
  ],
};

describe('coppice run --toolset slash', () => {
  let home: Home;
  before(() => {
    home = makeHome();
  });

  it('runs a whole tree on the scripted model: fork, bash, a completion, a notice, check-mail', async () => {
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    const result = await home.run([
      'run',
      'go',
      '--model',
      'scripted:rules.json',
      '--toolset',
      'slash',
      '--yes',
    ]);
    assert.equal(result.code, 0, result.stderr);
    assert.equal(result.stdout, 'two\n');
    const store = await openStore(`sqlite:${home.database}`);
    const agents = await store.agents({});
    assert.equal(agents.length, 2);
    for (const { config } of agents) assert.deepEqual([config.toolsets, config.tools], [['slash'], ['bash']]);
    const [root, child] = [agents.find((one) => one.depth === 0), agents.find((one) => one.depth === 1)];
    assert.ok(root !== undefined);
    assert.deepEqual(await noticesOf({ store }, root.id), [`got mail from ${child?.id}`]);
    const results = (await store.history(root.id)).flatMap((message) =>
      message.kind === 'result' ? [message.content] : [],
    );
    assert.equal(shownLetters(results).length, 1);
    await store.close();
  });

  it("the model is sent exactly bash and slash, and the seed's section", async () => {
    const server = await startOpenAiChatServer({ answer: () => ({ text: 'hello' }) });
    home.configure({ providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } } });
    const result = await home.run(['run', 'hi', '--model', 'local/m', '--toolset', 'slash']);
    assert.equal(result.code, 0, result.stderr);
    const [exchange] = server.exchanges;
    const tools = exchange?.body.tools as { function: { name: string } }[];
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      ['bash', 'slash'],
    );
    assert.ok(exchange?.system.endsWith(slashToolset.guidance));
    await server.close();
  });

  it('process and slash together are refused before anything is created', async () => {
    const other = makeHome();
    const args = ['run', 'hi', '--model', 'ollama/x', '--toolset', 'process', '--toolset', 'slash'];
    const result = await other.run(args);
    assert.equal(result.code, 2);
    assert.match(result.stderr, /process or slash, but not both.*\(E_CONFIG\)/);
    if (existsSync(other.database)) {
      const store = await openStore(`sqlite:${other.database}`);
      assert.deepEqual(await store.agents({}), []);
      await store.close();
    }
  });
});
