// Proves, through the command line, that a cost limit stops a run by the list price of its model, and is refused where no price is known.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startAnthropicServer } from '../../servers/anthropic-server.ts';
import { makeHome } from '../run-cli.ts';

it('a server that reports a million tokens is asked once; without a price it is not asked at all', async () => {
  const server = await startAnthropicServer({
    answer: () => ({
      calls: [{ name: 'think', input: { thought: 'on and on' } }],
      usage: { input: 1_000_000, output: 10 },
    }),
  });
  const home = makeHome();
  const env = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url };
  const run = (model: string, ...more: string[]) =>
    home.run(['run', '--model', `anthropic/${model}`, '--limit', 'cost=0.01', ...more, 'go'], { env });
  const unknown = await run('claude-of-tomorrow');
  assert.equal(unknown.code, 2, unknown.stderr);
  assert.match(
    unknown.stderr,
    /what anthropic\/claude-of-tomorrow costs is not known: set providers\.anthropic\.models/,
  );
  assert.equal(server.exchanges.length, 0);
  const stopped = await run('claude-sonnet-4-5');
  assert.equal(stopped.code, 1, stopped.stderr);
  assert.match(stopped.stderr, /limit "cost" of the tree reached: \$3\.0002 of \$0\.01/);
  assert.match(stopped.stderr, /To raise it and continue: coppice resume \w+ --limit cost=6$/m);
  assert.doesNotMatch(stopped.stderr, /--retry/);
  assert.equal(server.exchanges.length, 1);
  // As the message says: with a higher limit the run continues, until that limit is reached.
  const raised = await home.run(['resume', '--limit', 'cost=5'], { env });
  assert.match(
    raised.stderr,
    /limit "cost" of the tree reached: \$6\.0003 of \$5 used[\s\S]*To raise it and continue: coppice resume \w+ --limit cost=12$/m,
  );
  assert.equal(server.exchanges.length, 2);
  // The same with a budget that is raised while nobody leads the tree.
  const changed = await home.run(['budget', 'main', 'usd=7'], { env });
  assert.match(
    changed.stdout,
    /^tree: \$6\.0003 of \$7 used, \$0\.9997 left\ntree: [\d,]+ tokens used, no limit\n$/,
  );
  assert.match(changed.stderr, /it had stopped at its limit; to continue: coppice resume \w+ --retry/);
  const retried = await home.run(['resume', '--retry'], { env });
  assert.match(retried.stderr, /limit "cost" of the tree reached: \$9\.0005 of \$7 used/);
  assert.equal(server.exchanges.length, 3);
  const wrong = await home.run(['budget', 'main', 'eur=7'], { env });
  assert.deepEqual([wrong.code, /"eur=7" is not a valid budget/.test(wrong.stderr)], [2, true]);
  const slip = await home.run(['resume', '--limit', 'cots=5'], { env });
  assert.equal(slip.code, 2);
  assert.match(slip.stderr, /no limit called "cots"/);
  home.configure({
    providers: {
      anthropic: { type: 'anthropic', models: { 'claude-of-tomorrow': { price: { input: 1, output: 1 } } } },
    },
  });
  const priced = await run('claude-of-tomorrow');
  assert.match(priced.stderr, /limit "cost" of the tree reached: \$1 of \$0\.01/);
  await server.close();
});
