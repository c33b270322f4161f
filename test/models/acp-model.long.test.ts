// Proves that an agent program behind ACP keeps the Model contract, whatever the program does, and leaves no process behind.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelOutcome } from '../../src/models/model.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { acpStage, failed, heard, processesIn, said } from './acp-stage.ts';
import { atOnce } from './at-once.ts';

const ANYTHING = { allow: ['*'] };

function user(text: string): PromptMessage {
  return { role: 'user', text };
}

function answered(outcome: ModelOutcome): PromptMessage {
  assert.ok(outcome.type === 'answer', JSON.stringify(outcome));
  return { role: 'assistant', ...outcome.content };
}

describe('acp model: conversation', () => {
  it('streams text in order, and the answer is what was streamed', async (test) => {
    const { ask, model } = await acpStage(test);
    const text = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ');
    const { outcome, deltas } = await ask(`echo ${text}`);
    assert.equal(said(outcome), text);
    assert.equal(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join(''), text);
    assert.ok(deltas.length >= 200);
    assert.ok(outcome.type === 'answer');
    assert.equal(outcome.finish, 'stop');
    assert.equal(outcome.content.model, 'acp:test');
    assert.equal(model.id, 'acp:test');
  });

  it('shows thoughts and calls; calls are no part of the answer and part paragraphs', async (test) => {
    const { ask } = await acpStage(test, ['--usage']);
    const { outcome, deltas } = await ask('think Second.');
    assert.ok(outcome.type === 'answer');
    assert.deepEqual(outcome.content.parts, [
      { type: 'reasoning', text: 'hm, yes' },
      { type: 'text', text: 'First.\n\nSecond.' },
    ]);
    assert.deepEqual(
      deltas.map((delta) => delta.type),
      ['reasoning', 'reasoning', 'text', 'call', 'text'],
    );
    assert.deepEqual(deltas[3], { type: 'call', id: 'c1', name: 'Look around' });
  });

  it('one session per agent: later requests send only what is new', async (test) => {
    const { ask, processes } = await acpStage(test);
    const messages: PromptMessage[] = [user('turn')];
    messages.push(answered((await ask(messages)).outcome));
    messages.push(user('prompt'));
    const second = (await ask(messages)).outcome;
    assert.deepEqual(JSON.parse(said(second)), [{ type: 'text', text: 'prompt' }]);
    messages.push(answered(second), user('a letter'), user('turn'));
    const third = said((await ask(messages)).outcome);
    assert.match(third, /^turn 3 of s1 /);
    assert.match(said((await ask('turn', { name: 'b' })).outcome), /^turn 1 of s2 /);
    assert.equal(processes().length, 1);
  });

  it('the first request of an agent with a history carries it as a transcript, system text included', async (test) => {
    const { ask } = await acpStage(test);
    const { outcome } = await ask(
      [
        user('Count the files.'),
        {
          role: 'assistant',
          model: 'other/model',
          parts: [
            { type: 'reasoning', text: 'secret thought' },
            { type: 'text', text: 'I look.' },
            { type: 'call', id: '1', name: 'bash', input: '{"command":"ls"}' },
          ],
        },
        { role: 'results', results: [{ call_id: '1', name: 'bash', status: 'ok', output: 'one\ntwo' }] },
        user('You are a fork.'),
        user('prompt'),
      ],
      { system: 'Be brief.' },
    );
    const [{ text }] = JSON.parse(said(outcome)) as [{ text: string }];
    assert.equal(
      text,
      [
        '# Instructions\n\nBe brief.',
        '# Conversation so far\n\nUser: Count the files.',
        'Assistant: I look.\nAssistant used bash: {"command":"ls"}',
        'Result of bash (ok): one\ntwo',
        '# Now\n\nYou are a fork.',
        'prompt',
      ].join('\n\n'),
    );
  });

  it('pictures go to programs that take them, and are mentioned to others', async (test) => {
    const images = [{ media_type: 'image/png', base64: 'iVBORw0KGgo=' }];
    const messages: PromptMessage[] = [{ role: 'user', text: 'prompt', images }];
    const taking = await acpStage(test, ['--pictures']);
    assert.deepEqual(JSON.parse(said((await taking.ask(messages)).outcome)), [
      { type: 'text', text: 'prompt' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ]);
    const other = await acpStage(test);
    assert.match(failed((await other.ask(messages)).outcome), /no action \[1/);
  });

  it('reasons to stop become finishes, and what the program says of tokens becomes usage', async (test) => {
    const { ask } = await acpStage(test, ['--usage']);
    for (const [reason, finish] of [
      ['max_tokens', 'length'],
      ['max_turn_requests', 'length'],
      ['refusal', 'refused'],
      ['end_turn', 'stop'],
    ] as const) {
      const { outcome } = await ask(`stop ${reason}`, { name: reason });
      assert.ok(outcome.type === 'answer');
      assert.equal(outcome.finish, finish);
      assert.deepEqual(outcome.usage, { input: 100, output: 5, cached: 90, reasoning: 0, cost_usd: null });
    }
    assert.match(failed((await ask('stop cancelled')).outcome), /^cancelled: .*stopped on its own/);
    assert.match(failed((await ask('stop whatever')).outcome), /^cancelled: .*whatever/);
  });

  it('the price of a prompt is what the session costs more after it; other forms of usage are understood', async (test) => {
    const { ask } = await acpStage(test, ['--quota']);
    const messages: PromptMessage[] = [];
    for (const [total, own] of [
      ['0.5', 0.5],
      ['0.75', 0.25],
    ] as const) {
      messages.push(user(`cost ${total}`));
      const { outcome } = await ask(messages);
      assert.ok(outcome.type === 'answer');
      assert.deepEqual(outcome.usage, { input: 30, output: 3, cached: 0, reasoning: 0, cost_usd: own });
    }
  });

  it('tokens told with updates are added up', async (test) => {
    const { ask } = await acpStage(test, ['--usage-updates']);
    for (const name of ['one', 'two']) {
      const { outcome } = await ask('echo hello', { name });
      assert.ok(outcome.type === 'answer');
      assert.deepEqual(outcome.usage, { input: 20, output: 12, cached: 0, reasoning: 0, cost_usd: null });
      assert.deepEqual(outcome.content.parts, [{ type: 'text', text: 'hello' }]);
    }
  });

  it('tokens of a program that tells none are estimated by the length of the texts, and people read so once', async (test) => {
    const { ask } = await acpStage(test);
    const messages: PromptMessage[] = [];
    for (const notes of [1, 0]) {
      messages.push(user(`echo ${'word '.repeat(200)}`));
      const { outcome } = await ask(messages);
      assert.ok(outcome.type === 'answer');
      assert.ok(outcome.usage.input >= 250 && outcome.usage.output >= 249, JSON.stringify(outcome.usage));
      const told = outcome.content.parts.filter((part) => part.type === 'reasoning');
      assert.equal(told.length, notes);
      if (notes === 1)
        assert.match(JSON.stringify(told), /reports no tokens: they are counted by the length/);
      messages.push({ role: 'assistant', ...outcome.content });
    }
  });

  it('what an interrupted prompt costs counts with the next answer of its session', async (test) => {
    const { ask } = await acpStage(test);
    const controller = new AbortController();
    const { said: begun, onText } = heard('hanging');
    const hanging = ask('cost-and-hang 0.5', { signal: controller.signal, onText });
    await begun;
    controller.abort();
    assert.equal((await hanging).outcome.type, 'aborted');
    const { outcome } = await ask('cost 0.75');
    assert.ok(outcome.type === 'answer');
    assert.equal(outcome.usage.cost_usd, 0.75);
  });

  it('a notice of the program stands apart from the answer before it', async (test) => {
    const { ask } = await acpStage(test);
    assert.equal(said((await ask('notice The end.')).outcome), 'The end.\n\n**Warning:** all is well');
  });

  it('another conversation of the same agent begins a session of its own', async (test) => {
    const { ask } = await acpStage(test);
    assert.match(said((await ask('turn')).outcome), /^turn 1 of s1 /);
    assert.match(said((await ask('turn')).outcome), /^turn 1 of s2 /);
    const other = [user('not what was said'), user('turn')];
    assert.match(said((await ask(other)).outcome), /^turn 1 of s3 /);
  });

  it('the part of the name behind the slash chooses a mode, or else a model', async (test) => {
    for (const [agent, chosen] of [
      ['plan', 'mode plan'],
      ['vendor/large', 'model vendor/large'],
    ] as const) {
      const { ask, model } = await acpStage(test, ['--choices'], { model: `acp:test/${agent}` });
      assert.equal(said((await ask('chosen')).outcome), chosen);
      assert.equal(model.id, `acp:test/${agent}`);
    }
    const wrong = await acpStage(test, ['--choices'], { model: 'acp:test/none' });
    const sentence = failed((await wrong.ask('chosen')).outcome);
    assert.match(sentence, /^no_model: .*"none".*modes: code, plan.*Model: vendor\/small, vendor\/large/);
    const without = await acpStage(test, [], { model: 'acp:test/none' });
    assert.match(failed((await without.ask('chosen')).outcome), /nothing to choose from/);
  });

  it('twenty sessions at once on one process, none of them mixed up', async (test) => {
    const { ask, processes } = await acpStage(test, [], { maxSessions: 20 });
    const texts = Array.from({ length: 20 }, (_, index) => `a ${index} b ${index} c ${index}`);
    const outcomes = await Promise.all(texts.map((text) => ask(`echo ${text}`, { name: text })));
    assert.deepEqual(
      outcomes.map(({ outcome }) => said(outcome)),
      texts,
    );
    assert.equal(processes().length, 1);
  });

  it('no more prompts at once than configured; the others wait, and leave when aborted', async (test) => {
    const { ask } = await acpStage(test, [], { maxSessions: 2 });
    const controller = new AbortController();
    const begun = ['a', 'b'].map(() => heard('hanging'));
    const hanging = ['a', 'b'].map((name, index) =>
      ask('hang', { name, signal: controller.signal, onText: begun[index]?.onText ?? (() => undefined) }),
    );
    const impatient = new AbortController();
    const waiting = ask('echo c', { name: 'c', signal: impatient.signal });
    await Promise.all(begun.map((one) => one.said));
    impatient.abort();
    assert.deepEqual((await waiting).outcome, { type: 'aborted' });
    assert.deepEqual((await waiting).deltas, []);
    const next = ask('echo d', { name: 'd' });
    controller.abort();
    assert.equal(said((await next).outcome), 'd');
    assert.deepEqual(
      (await Promise.all(hanging)).map(({ outcome }) => outcome),
      Array(2).fill({ type: 'aborted', partial: 'hanging' }),
    );
  });

  it('a program that floods is cut; one that writes garbage is still understood', async (test) => {
    const { ask } = await acpStage(test);
    const { outcome } = await ask('flood 5000');
    assert.equal(said(outcome).length, 1_000_000);
    assert.ok(outcome.type === 'answer' && outcome.finish === 'length');
    const original = console.error;
    const complaints: unknown[] = [];
    console.error = (...words: unknown[]) => complaints.push(words);
    test.after(() => {
      console.error = original;
    });
    assert.equal(said((await ask('garbage fine', { name: 'b' })).outcome), 'fine');
    assert.deepEqual(complaints, []);
  });
});

describe('acp model: abort', () => {
  it('resolves at once, and the session goes on with the next request', async (test) => {
    const { ask } = await acpStage(test);
    assert.equal(said((await ask('echo warm')).outcome), 'warm');
    const controller = new AbortController();
    const counting = heard('1 2 ');
    const pending = ask('slow 1000', { name: 'b', signal: controller.signal, onText: counting.onText });
    await counting.said;
    controller.abort();
    const { outcome, deltas } = await atOnce(pending);
    assert.ok(outcome.type === 'aborted' && outcome.partial?.startsWith('1 2 '));
    const shown = deltas.length;
    assert.match(said((await ask('turn', { name: 'b' })).outcome), /^turn 2 of s2 /);
    assert.equal(deltas.length, shown, 'nothing is shown after the abort');
  });

  it('at any moment: before, while the program starts, while the session opens', async (test) => {
    const { ask } = await acpStage(test, ['--slow-session']);
    for (const delay of [0, 20, 400, 700]) {
      const controller = new AbortController();
      const pending = ask('hang', { name: `after ${delay}`, signal: controller.signal });
      await sleep(delay);
      controller.abort();
      assert.equal((await atOnce(pending)).outcome.type, 'aborted');
    }
    assert.equal((await ask('echo x', { signal: AbortSignal.abort() })).outcome.type, 'aborted');
    assert.equal(said((await ask('echo x')).outcome), 'x');
  });

  it('a program that is deaf to it loses the session, and nothing it says later is heard', async (test) => {
    const { ask } = await acpStage(test, ['--usage'], { maxSessions: 1 });
    const controller = new AbortController();
    const deaf = heard('deaf');
    const pending = ask('stubborn', { signal: controller.signal, onText: deaf.onText });
    await deaf.said;
    controller.abort();
    assert.deepEqual((await pending).outcome, { type: 'aborted', partial: 'deaf' });
    const { outcome, deltas } = await ask('turn');
    assert.match(said(outcome), /^turn 1 of s2 /);
    assert.equal(deltas.length, 1);
  });

  it('stops the commands of the prompt', async (test) => {
    const { ask, cwd } = await acpStage(test, [], { rules: ANYTHING });
    const controller = new AbortController();
    const pending = ask('run sleep 30.5', { signal: controller.signal });
    assert.ok(await eventually(() => processesIn(cwd).length > 0));
    controller.abort();
    assert.equal((await pending).outcome.type, 'aborted');
    assert.ok(await eventually(() => processesIn(cwd).length === 0));
  });
});
