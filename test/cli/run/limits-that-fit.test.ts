// Proves, through the command line and with a server on this machine, what limits on tokens count where the server reports no cache, and which trees the default limits bind.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer, Exchange } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { makeHome } from '../run-cli.ts';

let cached: number | null = null;

/** Each character is a token, so that a hundred short requests pass two million. Told `FORK n`, forks n children in one message, waits for them, and answers; told `STEPS n`, makes n calls, one after the other. */
function brain(exchange: Exchange): Answer {
  const said = answerTo(exchange);
  return { ...said, usage: { input: exchange.raw.length, output: JSON.stringify(said).length, cached } };
}

function answerTo({ messages }: Exchange): Answer {
  const task = messages.find(({ role }) => role === 'user')?.text ?? '';
  const results = messages.filter(({ role }) => role === 'results');
  const steps = Number(/STEPS (\d+)/.exec(task)?.[1] ?? 0);
  const forks = Number(/FORK (\d+)/.exec(task)?.[1] ?? 0);
  if (messages.some(({ text }) => /You are now "c\d+"/.test(text))) return { text: 'small' };
  if (results.length < steps)
    return { calls: [{ name: 'think', input: { thought: `step ${results.length}` } }] };
  if (forks > 0 && results.length === 0)
    return {
      calls: Array.from({ length: forks }, (_, at) => ({
        name: 'fork',
        input: { name: `c${at}`, prompt: `task ${at}` },
      })),
    };
  if (forks === 0 || results.length > 1) return { text: 'all done' };
  const ids = (results[0]?.results ?? []).map(
    ({ output }) => (JSON.parse(output) as { agent_id: string }).agent_id,
  );
  return { calls: [{ name: 'wait', input: { timeout: 60, from_agents: ids } }] };
}

let server: ProtocolServer;
before(async () => {
  server = await startOpenAiChatServer({ answer: brain });
});
after(() => server.close());

function home() {
  cached = null;
  const made = makeHome();
  made.configure({
    model: 'near/big',
    providers: { near: { type: 'openai-compatible', baseURL: server.url } },
  });
  return made;
}
const MANY = ['--limit', 'children=200', '--limit', 'live=200'];

describe('limits that fit', () => {
  it('a hundred children of a model on this machine are not cut short by the default limits', async () => {
    const { run } = home();
    const done = await run(['run', ...MANY, '--json', 'FORK 100']);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /all done/);
    const usage = JSON.parse((await run(['usage', '--json'])).stdout);
    assert.ok(usage.by_tree[0].input > 2_000_000, 'what was sent is shown whole');
    // The default does not count it; a limit that is set afterwards does.
    assert.match((await run(['budget', 'main'])).stdout, /tree: 0 of 2,000,000 tokens used/);
    const set = await run(['budget', 'main', 'tokens=1000']);
    assert.match(set.stdout, /tree: [\d,]{6,} of 1,000 tokens used, 0 tokens left/);
  });

  it('an explicit limit counts what is new; a server that reports its cache is believed', async () => {
    const { run } = home();
    const limit = ['--limit', 'tokens=100000'];
    const fits = await run(['run', ...MANY, '--limit', 'tokens=800000', `FORK 40 ${'word '.repeat(12_000)}`]);
    assert.equal(fits.code, 0, fits.stderr);
    const steps = await run(['run', ...limit, 'STEPS 20']);
    assert.equal(steps.code, 0, steps.stderr);
    cached = 0;
    const cut = await run(['run', ...limit, 'STEPS 20']);
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /limit "tokens" of the tree reached/);
  });

  it('people are warned in words at half and at 80 % of each limit, once, also if the run is taken over', async () => {
    const { run } = home();
    const warned = (text: string) =>
      text
        .split('\n')
        .flatMap((line) => /\S.* of the limit .*/.exec(line)?.[0] ?? [])
        .sort();
    const limits = ['--limit', 'tokens=30000', '--limit', 'turns=10', '--limit', 'total=2'];
    const cut = await run(['run', ...limits, 'STEPS 20']);
    const said = [
      '80 % of the limit "turns" of a turn is used: 8 of 10',
      'half of the limit "turns" of a turn is used: 5 of 10',
    ];
    assert.deepEqual(warned(cut.stderr), said);
    const again = await run(['resume', '--limit', 'turns=10', '--retry']);
    assert.deepEqual(warned(again.stderr), []);
    const events = await run(['run', '--events', '--limit', 'total=4', 'FORK 2']);
    const told = events.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const texts = told.flatMap(({ type, message }) =>
      type === 'message' && message.content.data?.about === 'limit' ? [message.content.text] : [],
    );
    assert.deepEqual(texts, ['half of the limit "total" of the tree is used: 3 of 4']);
  });
});
