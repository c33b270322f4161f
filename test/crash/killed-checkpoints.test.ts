// Proves that an agent whose window is small works through many checkpoints, killed with SIGKILL again and again: no request exceeds the window, and its last one has its task and its child.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import { openStore } from '../../src/store/open-store.ts';
import { promptHistory } from '../../src/store/prompt-history.ts';
import { makeHome } from '../cli/run-cli.ts';
import { LONG } from '../house/long.ts';
import type { Exchange } from '../servers/brain.ts';
import { countingServer } from '../servers/counting-server.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { killAndResume } from './killed-run.ts';

const [TURNS, KILLS, CHECKPOINTS, LATEST_MS] = LONG ? [2_000, 10, 50, 6_000] : [70, 2, 2, 1_500];
const WINDOW = 8_000;
const TASK = 'FORK a child and count to the end. The password is pineapple.';
const COUNT = `echo x >> count; [ $(wc -l < count) -ge ${TURNS} ] && echo last || echo more; head -c 700 /dev/zero | tr '\\0' x`;

it(`${TURNS} turns, killed up to ${KILLS} times`, async (context) => {
  const home = makeHome();
  const refused: Exchange[] = [];
  let newest: Exchange | undefined;
  const brain = countingServer(WINDOW, 'openai-compatible', refused, ['bash', { command: COUNT }]);
  const answer = (exchange: Exchange) => {
    newest = exchange;
    return brain(exchange);
  };
  const server = await startOpenAiChatServer({ answer, record: false });
  const models = { m: { contextWindow: WINDOW } };
  home.configure({
    providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1`, models } },
  });
  const run = ['run', TASK, '--yes', '--limit', `turns=${2 * TURNS}`, '--limit', 'tokens=none'];
  const terms = { most_kills: KILLS, after_ms: [500, LATEST_MS] } as const;
  const { kills, reply } = await killAndResume(home, run, ['--model', 'local/m', '--json'], terms);
  await server.close();
  assert.equal(reply, 'All counted.');
  assert.equal(refused.length, 0, 'no request exceeds the window');
  const store = await openStore(home.database);
  const [root, kid] = (await store.agents({})).toSorted((a, b) => a.depth - b.depth);
  assert.ok(root !== undefined && kid !== undefined);
  for (const text of [TASK, `kid (${kid.id}): idle`]) assert.ok(newest?.raw.includes(text), text);
  const history = await store.history(root.id);
  const cuts = history.filter(({ kind, content }) => kind === 'event' && content.event === 'checkpoint');
  assert.ok(cuts.length >= CHECKPOINTS, `${cuts.length} checkpoints`);
  const read = await promptHistory(store, root);
  assert.ok(read.length < 300, 'what is read does not grow');
  assert.deepEqual(promptOf(read).messages(), promptOf(history).messages());
  await store.close();
  context.diagnostic(
    `${kills} kills, ${cuts.length} checkpoints, ${history.length} rows, ${read.length} read`,
  );
});
