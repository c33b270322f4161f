// Proves that an agent with a small context window works through many checkpoints while SIGKILL hits it repeatedly: no request exceeds the window; its last
// one has its task, its children and everything that a person wrote meanwhile, verbatim; and forks made before and after checkpoints see what their parent
// saw then.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { promptOf } from '../../src/records/conversation/prompt.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../cli/run-cli.ts';
import { DEEP } from '../house/deep.ts';
import type { Answer, Exchange } from '../servers/brain.ts';
import { countingServer } from '../servers/counting-server.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { killAndResume } from './killed-run.ts';

const [TURNS, KILLS, CHECKPOINTS, LATEST_MS] = DEEP ? [2_000, 10, 50, 6_000] : [70, 2, 2, 1_500];
const WINDOW = 8_000;
const TASK = 'FORK a child and count to the end. The password is pineapple.';
const COUNT = `echo x >> count; [ $(wc -l < count) -ge ${TURNS} ] && echo last || echo more; head -c 700 /dev/zero | tr '\\0' x`;
const CUT = 'This conversation was long.';
/** Letters of a person, each sent once the agent has counted up to `at`. */
const WORDS = [0.2, 0.5, 0.8].map((share) => ({
  at: Math.floor(share * TURNS),
  text: `At ${share} I say „naïve“ 👍🏽,\nand "quoted" \\ too: keep it as it is.`,
}));
const LATE_AT = Math.floor(0.65 * TURNS);

const told = ({ messages }: Exchange) => messages.map(({ text }) => text);
const isOf = (exchange: Exchange, name: string) =>
  told(exchange).some((text) => text.includes(`You are now "${name}"`));

it(`${TURNS} turns, killed up to ${KILLS} times`, async (context) => {
  const home = makeHome();
  const refused: Exchange[] = [];
  const newest = new Map<string, Exchange>();
  const brain = countingServer(WINDOW, 'openai-compatible', refused, ['bash', { command: COUNT }]);
  const sent: Promise<unknown>[] = [];
  let counted = 0;
  let is_late_there = false;
  const answer = (exchange: Exchange): Answer => {
    const who = ['kid', 'late'].find((name) => isOf(exchange, name)) ?? 'root';
    if (who !== 'root') newest.set(who, exchange);
    const answered = brain(exchange);
    // Only the root counts: an agent that is asked at the end says what it is.
    if (who !== 'root' && answered.calls?.[0]?.name === 'bash')
      return { ...answered, text: 'I am here.', calls: [] };
    if (who !== 'root' || answered.calls?.[0]?.name !== 'bash') {
      if (who === 'root' && answered.text === 'All counted.') newest.set(who, exchange);
      return answered;
    }
    counted += 1;
    for (const { text } of WORDS.slice(sent.length).filter(({ at }) => at <= counted))
      sent.push(home.run(['send', 'main', text]));
    // Requested again if a kill lost the call.
    is_late_there ||=
      exchange.messages.at(-1)?.results.some(({ output }) => output.includes('"late"')) === true;
    if (counted < LATE_AT || is_late_there) return answered;
    return { ...answered, calls: [{ name: 'fork', input: { name: 'late', prompt: 'stay' } }] };
  };
  const server = await startOpenAiChatServer({ answer, record: false });
  const models = { m: { contextWindow: WINDOW } };
  home.configure({
    providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1`, models } },
  });
  const run = ['run', TASK, '--yes', '--limit', `turns=${2 * TURNS}`, '--limit', 'tokens=none'];
  const terms = { most_kills: KILLS, after_ms: [500, LATEST_MS] } as const;
  const { kills, reply } = await killAndResume(home, run, ['--model', 'local/m', '--json'], terms);
  assert.equal(reply, 'All counted.');
  assert.equal((await Promise.all(sent)).length, WORDS.length);
  // Taken before the children work again: a checkpoint made then would rightly say so.
  const last = told(newest.get('root') as Exchange).join('\n\n');
  for (const name of ['kid', 'late']) await home.run(['send', name, 'What did you see?']);
  const resumed = await home.start(['resume', '--model', 'local/m', '--json']).ended;
  assert.equal(resumed.code, 0, resumed.stderr);
  await server.close();
  assert.equal(refused.length, 0, 'no request exceeds the window');

  const store = await openStore(home.database);
  const [root] = await store.find('main');
  const [kid] = await store.find('kid');
  const [late] = await store.find('late');
  assert.ok(root !== undefined && kid !== undefined && late !== undefined);
  for (const text of [
    TASK,
    `kid (${kid.id}): idle`,
    `late (${late.id}): idle`,
    ...WORDS.map((one) => one.text),
  ])
    assert.equal(last.split(text).length, 2, `once in the last request: ${text}\n${last}`);
  const history = await store.history(root.id);
  const cuts = history.filter(({ kind, content }) => kind === 'event' && content.event === 'checkpoint');
  assert.ok(cuts.length >= CHECKPOINTS, `${cuts.length} checkpoints`);

  // The early fork is asked at the end, long after its parent's conversation was cut.
  const early = told(newest.get('kid') as Exchange).join('\n\n');
  assert.ok(early.includes(TASK) && early.includes('What did you see?') && !early.includes(CUT));
  const after = told(newest.get('late') as Exchange).join('\n\n');
  assert.ok(after.includes(CUT) && after.includes(TASK) && after.includes('What did you see?'));
  const before_fork = history.filter(({ seq }) => seq <= (late.forked_from?.seq ?? 0));
  for (const { text } of WORDS) {
    const is_known = before_fork.some(({ kind, content }) => kind === 'user' && content.text.includes(text));
    assert.equal(after.includes(text), is_known, text);
  }

  const read = (await store.conversations([root.id])).get(root.id)?.messages ?? [];
  assert.ok(read.length < 300, 'what is read does not grow');
  assert.deepEqual(promptOf(read).messages(), promptOf(history).messages());
  await store.close();
  context.diagnostic(
    `${kills} kills, ${cuts.length} checkpoints, ${history.length} rows, ${read.length} read`,
  );
});
