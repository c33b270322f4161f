// Proves that a model never again sees a message that a person left out, that the rest of the prompt stays valid, and that forks inherit the omission.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CallPart, Message, PlacedMessage } from '../../../src/records/conversation/message.ts';
import { Prompt, promptOf } from '../../../src/records/conversation/prompt.ts';
import { LEFT_OUT_RESULT, type PromptMessage } from '../../../src/records/conversation/prompt-message.ts';

const LEFT_OUT = 'This message was left out: the provider refused to take it.';
const LEAVE_OUT: Message = { kind: 'event', content: { event: 'left-out', text: 'left out' } };

const user = (text: string): Message => ({ kind: 'user', content: { origin: 'human', text } });

function says(text: string, ...calls: readonly string[]): Message {
  const parts = calls.map((id): CallPart => ({ type: 'call', id, name: 'read', input: '{}' }));
  return { kind: 'assistant', content: { model: 'm', parts: [{ type: 'text', text }, ...parts] } };
}

function result(call_id: string): Message {
  const images = [{ media_type: 'image/png', base64: 'aaaa' }];
  return { kind: 'result', content: { call_id, name: 'read', status: 'ok', output: 'big', images } };
}

function placed(agent_id: string, messages: readonly Message[], from = 0): PlacedMessage[] {
  return messages.map((message, index) => ({ ...message, agent_id, seq: from + index + 1, at: 0 }));
}

/** One line for each message that the model sees. */
function seen(messages: readonly PromptMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === 'user') return message.text;
    if (message.role === 'assistant')
      return message.parts.map((part) => (part.type === 'call' ? `call ${part.id}` : part.text)).join(' + ');
    return message.results
      .map(({ call_id, output, images = [] }) => `${call_id}: ${output} ${images.length}`)
      .join(' + ');
  });
}

const lines = (...messages: readonly Message[]) => seen(promptOf(placed('a', messages)).messages());

it('removes the newest message, one more each time; later ones are not touched', () => {
  assert.deepEqual(lines(user('one'), says('two'), user('three'), LEAVE_OUT), ['one', 'two']);
  assert.deepEqual(lines(user('one'), says('two'), user('three'), LEAVE_OUT, LEAVE_OUT), ['one']);
  assert.deepEqual(lines(user('one'), LEAVE_OUT, LEAVE_OUT), []);
  assert.deepEqual(lines(user('one'), LEAVE_OUT, user('two'), says('three')), ['two', 'three']);
});

it('calls stay answered: first their results are removed, then the calls', () => {
  const history = [user('one'), says('look', 'x', 'y'), result('x'), result('y')];
  assert.deepEqual(lines(...history, LEAVE_OUT), [
    'one',
    'look + call x + call y',
    `x: ${LEFT_OUT_RESULT} 0 + y: ${LEFT_OUT_RESULT} 0`,
  ]);
  assert.deepEqual(lines(...history, LEAVE_OUT, LEAVE_OUT), ['one']);
  assert.deepEqual(lines(...history, LEAVE_OUT, says('done'), user('next'), LEAVE_OUT), [
    'one',
    'look + call x + call y',
    `x: ${LEFT_OUT_RESULT} 0 + y: ${LEFT_OUT_RESULT} 0`,
    'done',
  ]);
});

it('later forks inherit the omission, earlier ones do not, and a fork omits an inherited message only for itself', () => {
  const parent = placed('a', [user('one'), user('bad'), LEAVE_OUT, user('two'), says('go', 'x')]);
  const child = promptOf([...parent, ...placed('b', [user('you are b')], 5)]);
  assert.deepEqual(seen(child.messages()).slice(0, 3), ['one', 'two', 'go + call x']);
  const early = [...parent.slice(0, 2), ...placed('c', [user('you are c')], 2)];
  assert.deepEqual(seen(promptOf(early).messages()), ['one', 'bad', 'you are c']);
  const again = [...early, ...placed('c', [LEAVE_OUT, LEAVE_OUT, user('so')], 3)];
  assert.deepEqual(seen(promptOf(again).messages()), ['one', 'so']);
  assert.equal(promptOf(again).shared, 1, 'what is still shared is still shared');
});

it('a fork whose prefix is read later sees it as it was when the fork was created', () => {
  const prompt = promptOf(placed('a', [user('one'), says('two')]));
  const shared = prompt.forked();
  prompt.append(LEAVE_OUT);
  prompt.append(user('three'));
  assert.deepEqual(seen(shared.messages()), ['one', 'two']);
  assert.deepEqual(seen(prompt.messages()), ['one', 'three']);
});

it('an older message is removed alone, also from a shared prefix, and text of the agent itself stays', () => {
  const parent = promptOf(placed('a', [user('one'), user('bad'), says('two')]));
  const prompt = new Prompt(parent.forked());
  for (const message of [user('task'), says('mine')]) prompt.append(message);
  prompt.append({ kind: 'event', content: { event: 'left-out', text: 'left out', data: { behind: 3 } } });
  assert.deepEqual(seen(prompt.messages()), ['one', LEFT_OUT, 'two', 'task', 'mine']);
  assert.deepEqual([prompt.shared, prompt.said('beginning')], [1, ['mine']]);
  assert.equal(prompt.leaveOut(1), 'the message "task"');
  assert.deepEqual(seen(prompt.messages()), ['one', LEFT_OUT, 'two', LEFT_OUT, 'mine']);
  assert.deepEqual(seen(parent.messages()), ['one', 'bad', 'two']);
});

it('of a message far behind stays what others rest on: a text, calls without their input, results without output', () => {
  const history = [user('one'), says('two'), says('look', 'x'), result('x'), user('last')];
  const prompt = promptOf(placed('a', history));
  const told = [1, 2, 3, 4].map((behind) => prompt.leaveOut(behind));
  assert.deepEqual(told, [
    'what read returned',
    'the calls of read',
    'the answer "two"',
    'the message "one"',
  ]);
  const left = [LEFT_OUT, LEFT_OUT, 'call x', `x: ${LEFT_OUT_RESULT} 0`];
  assert.deepEqual(seen(prompt.messages()), [...left, 'last']);
  // If everything that far back is already left out, the newest message is.
  assert.deepEqual(
    [prompt.leaveOut(4), prompt.leaveOut(2), prompt.leaveOut(1)],
    ['the message "last"', 'the calls of read', `the answer "${LEFT_OUT}"`],
  );
});
