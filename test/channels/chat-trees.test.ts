// Proves that `/new` ends a session even if it is cut short and repeated: no tree goes on out of reach of its chat; and what a chat can grant.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { ChatEvent } from '../../src/channels/channel.ts';
import { ChatTrees } from '../../src/channels/chat-trees.ts';
import type { Model } from '../../src/models/model.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import type { AssistantContent } from '../../src/records/conversation/message.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import type { Store } from '../../src/store/store.ts';
import { createBuiltInTools } from '../../src/tools/tool-registry.ts';
import { closeOpened } from '../close-opened.ts';
import { setStage } from '../runtime/stage.ts';
import { CONFIG } from '../store/ledger-fixture.ts';
import { until } from '../until.ts';

afterEach(closeOpened);

for (const method of ['kill', 'remember'] as const)
  it(`a renewal that fails in its ${method} is repeated`, async () => {
    const on = await setStage(() => 'well');
    let breaks = false;
    /** Fails in one method once it is told to. */
    const breaking = <T extends RuntimeFace | Store>(target: T): T =>
      new Proxy(target, {
        get(_, name) {
          const own = Reflect.get(target, name, target) as unknown;
          if (typeof own !== 'function') return own;
          if (breaks && name === method) return () => Promise.reject(new Error('away'));
          return own.bind(target);
        },
      });
    const trees = new ChatTrees({
      channel: 'telegram',
      store: breaking(on.store),
      runtime: breaking(on.runtime),
      session: () => ({ config: { ...CONFIG, model: 'play/actor' }, limits: DEFAULT_LIMITS }),
      onWritten: () => undefined,
    });
    assert.equal(await trees.renew('7'), false);
    await trees.say('7', { id: 'one', from: 'Ada', text: 'hello' });
    const [root] = await trees.agents('7');
    breaks = true;
    await assert.rejects(trees.renew('7'), /away/);
    breaks = false;
    assert.equal(await trees.renew('7'), true);
    assert.equal((await on.store.agent(root?.id ?? ''))?.state.type, 'killed');
    assert.equal(await trees.renew('7'), false);
    await trees.say('7', { id: 'two', from: 'Ada', text: 'hello again' });
    assert.notEqual((await trees.agents('7'))[0]?.id, root?.id);
  });

it('text of a failed try is taken back from a chat and from what is kept of an interrupted answer, each time', async () => {
  const shown: ChatEvent[] = [];
  let begun: (() => void) | undefined;
  const flaky: Model = {
    id: 'flaky',
    context_window: null,
    tells_cost: false,
    stream: ({ signal }, onDelta) =>
      new Promise((resolve) => {
        for (const [at, text] of ['first ', 'second ', 'third '].entries()) {
          if (at > 0) onDelta({ type: 'restart', reason: 'cut' });
          onDelta({ type: 'text', text });
          onDelta({ type: 'text', text: 'try' });
        }
        signal.addEventListener('abort', () => resolve({ type: 'aborted' }), { once: true });
        begun?.();
      }),
  };
  const on = await setStage(() => 'never asked', { config: { model: 'flaky' }, models: { flaky } });
  const trees = new ChatTrees({
    channel: 'chat',
    store: on.store,
    runtime: on.runtime,
    session: () => ({ config: { ...CONFIG, model: 'flaky' }, limits: DEFAULT_LIMITS }),
    onWritten: () => undefined,
  });
  trees.watch((event) => shown.push(event));
  for (const chat of ['7', '8']) {
    const streams = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await trees.say(chat, { id: `say-${chat}`, from: 'Ada', text: 'hello' });
    await streams;
    const [root] = await trees.agents(chat);
    assert.equal(await trees.interrupt(chat), true);
    await on.runtime.settled(root?.id ?? '');
    const texts = shown.flatMap((event) =>
      event.type === 'text' && event.chat === chat ? [event.text] : [],
    );
    const tries = ['first', 'second', 'third'].map((word) => [`${word} `, `${word} try`]);
    assert.deepEqual(texts, [tries[0], '', tries[1], '', tries[2]].flat());
    const kept = (await on.store.history(root?.id ?? '')).filter(({ kind }) => kind === 'assistant');
    assert.deepEqual(
      kept.map(({ content }) => (content as AssistantContent).parts),
      [[{ type: 'text', text: 'third try' }]],
    );
  }
});

it('each answer of a turn begins anew in the chat, and each turn is told to begin and to end', async () => {
  const on = await setStage(() => 'never asked', {
    config: { model: 'two' },
    models: { two: inTwoAnswers() },
  });
  const trees = new ChatTrees({
    channel: 'chat',
    store: on.store,
    runtime: on.runtime,
    session: () => ({ config: { ...CONFIG, model: 'two' }, limits: DEFAULT_LIMITS }),
    onWritten: () => undefined,
  });
  const shown: string[] = [];
  trees.watch((event) => {
    if (event.type === 'text' || event.type === 'began' || event.type === 'ended')
      shown.push(event.type === 'text' ? event.text : event.type);
  });
  for (const turn of ['one', 'two']) {
    await trees.say('7', { id: turn, from: 'Ada', text: turn });
    const [root] = await trees.agents('7');
    await on.runtime.settled(root?.id ?? '');
    await until(() => shown.at(-1) === 'ended', 'the end');
    assert.deepEqual(shown.splice(0), ['began', 'let me see', '', 'done', 'ended'], turn);
  }
});

/** A model that says something, calls a tool that there is not, and then ends the turn. */
function inTwoAnswers(): Model {
  const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
  return {
    id: 'two',
    context_window: null,
    tells_cost: false,
    stream: async ({ messages }, onDelta) => {
      const text = messages.at(-1)?.role === 'results' ? 'done' : 'let me see';
      onDelta({ type: 'text', text });
      const call = { type: 'call', id: `c${messages.length}`, name: 'nothing', input: '{}' } as const;
      const parts = [{ type: 'text', text } as const, ...(text === 'done' ? [] : [call])];
      return {
        type: 'answer',
        content: { model: 'two', parts },
        usage,
        finish: text === 'done' ? 'stop' : 'calls',
      };
    },
  };
}

it('a chat grants the rule that is proposed and none that is wider, and hears nothing of questions elsewhere', async () => {
  const commands = ['git status --short', 'bash -c "true secret"', 'true'];
  const on = await setStage(
    ({ step }) => {
      const command = commands[step];
      return command === undefined ? 'done' : [['bash', { command }]];
    },
    {
      can_ask: true,
      tools: createBuiltInTools(),
      config: {
        channel: 'chat:7',
        permissions: {
          cli: { allow: [], ask: ['bash'], deny: [] },
          config: { allow: [], ask: [], deny: [] },
        },
      },
    },
  );
  const trees = new ChatTrees({
    channel: 'chat',
    store: on.store,
    runtime: on.runtime,
    session: () => ({ config: CONFIG, limits: DEFAULT_LIMITS }),
    onWritten: () => undefined,
  });
  await on.start();
  const next = async (text: string): Promise<Ask> => {
    let found: Ask | undefined;
    await until(async () => {
      [found] = await trees.asks('7');
      return found?.subject.includes(text) === true;
    }, text);
    return found as Ask;
  };
  const always = { verdict: 'allow', scope: 'agent', note: '', by: 'chat:1' } as const;
  const status = await next('status');
  const { granted, scope } = await trees.answer('7', status.id.slice(0, 8).toUpperCase(), always);
  assert.deepEqual([granted, scope], ['bash:git status *', 'agent']);
  const secret = await next('secret');
  await assert.rejects(trees.answer('7', secret.id, always), {
    code: 'E_INVALID_ARGUMENT',
    message: /^no rule can be granted: bash may run anything/,
  });
  for (const id of [secret.id, secret.id.slice(0, 8), status.id])
    await assert.rejects(trees.answer('8', id, always), {
      code: 'E_ASK_NOT_FOUND',
      message: `no approval "${id}"`,
      hint: 'See: /approvals',
    });
  assert.equal((await on.store.findAsks(secret.id))[0]?.verdict, null);
  await trees.answer('7', secret.id, { ...always, verdict: 'deny', scope: 'once' });
});
