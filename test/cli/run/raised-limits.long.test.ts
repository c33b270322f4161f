// Proves with whole processes, on both databases and with a server, that what a limit cut short goes on by the command that is printed, as it stands: for each limit that ends turns.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { closeLater } from '../../close-opened.ts';
import { alwaysOnBothDatabases } from '../../runtime/both-databases.ts';
import type { Answer, Exchange } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { makeHome } from '../run-cli.ts';
import { serving } from '../serving.ts';

/** Told `STEPS n`, makes n calls, one after the other; told `SLEEP`, one that lasts. Each request costs 1,010 tokens, or a tenth of a cent. */
function brain({ messages }: Exchange): Answer {
  const task = messages.find(({ role }) => role === 'user')?.text ?? '';
  const results = messages.filter(({ role }) => role === 'results').length;
  const steps = task.includes('SLEEP') ? 1 : Number(/STEPS (\d+)/.exec(task)?.[1]);
  const usage = { input: 1_000, output: 10, cached: 0 };
  if (messages.at(-1)?.text.includes('Finish now')) return { text: 'so far', usage };
  if (results >= steps) return { text: `all done after ${results}`, usage };
  const sleep = { name: 'bash', input: { command: 'sleep 60' } };
  const think = { name: 'think', input: { thought: `step ${results}` } };
  return { calls: [task.includes('SLEEP') ? sleep : think], usage };
}

const CASES = [
  ['tokens=3000', 'STEPS 2', /limit "tokens" of the tree reached/],
  ['tokens=500', 'STEPS 2', /limit "tokens" of the tree reached/],
  ['cost=0.0029', 'STEPS 2', /limit "cost" of the tree reached/],
  ['turns=2', 'STEPS 2', /limit reached: 2 model requests in one turn/],
  // A quarter of it is for the last answer, which must arrive on a busy machine, too.
  ['run=12s', 'SLEEP', /limit reached: run time of 12 s/],
] as const;

let server: ProtocolServer;
before(async () => {
  server = await startOpenAiChatServer({ answer: brain });
});
after(() => server.close());

alwaysOnBothDatabases('a limit that is raised as the run says', (database, kind) => {
  async function newHome() {
    const home = makeHome();
    const price = { input: 1, output: 0 };
    home.configure({
      model: 'near/any',
      agents: { defaults: { permissions: { allow: ['bash'] } } },
      providers: { near: { type: 'openai-compatible', baseURL: server.url, models: { any: { price } } } },
    });
    return { home, ledger: ['--database', (await database()) ?? join(home.folder, 'other', 'ledger.db')] };
  }

  async function plays(run: (args: readonly string[]) => ReturnType<ReturnType<typeof makeHome>['run']>) {
    for (const [limit, task, reached] of CASES) {
      let ended = await run(['run', '--limit', limit, task]);
      assert.match(ended.stderr, reached, limit);
      for (let raises = 1; ended.code !== 0; raises += 1) {
        assert.ok(raises <= 3, `${limit}: ${ended.stderr}`);
        assert.equal(ended.code, 1, ended.stderr);
        assert.match(ended.stderr, /^cut short: /m);
        const [, command = ''] = /To raise it and continue: coppice (.*)$/m.exec(ended.stderr) ?? [];
        assert.match(command, /^resume \w+ .*--limit (tokens|cost|turns|run)=[\d.]+s?$/, ended.stderr);
        ended = await run(command.split(' '));
        assert.doesNotMatch(ended.stderr, /nothing new/);
      }
      assert.match(ended.stdout, /^all done after \d\n$/, `${limit}: ${ended.stderr}`);
    }
  }

  it(`in this process, on ${kind}`, { timeout: 120_000 }, async () => {
    const { home, ledger } = await newHome();
    await plays((args) => home.run(args[0] === 'run' ? [...args, ...ledger] : args));
  });

  it(`at a server, on ${kind}`, { timeout: 120_000 }, async () => {
    const { home, ledger } = await newHome();
    const { url, stop } = await serving(home, ledger);
    closeLater(stop);
    await plays((args) => home.run(args[0] === 'run' ? [...args, '--server', url] : args));
  });
});
