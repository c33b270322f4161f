// Proves what a model sees of a composed history: only its kinds, results in the order of the calls, identical prefixes for all forks.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Message, PlacedMessage } from '../../src/core/message.ts';
import { FORK_PLACEHOLDER, Prompt, promptOf } from '../../src/core/prompt.ts';
import { storable } from '../../src/core/text.ts';
import { findWaitCycle } from '../../src/core/wait-cycle.ts';

const user = (text: string): Message => ({ kind: 'user', content: { origin: 'human', text } });
const asks = (...ids: string[]): Message => ({
  kind: 'assistant',
  content: { model: 'm', parts: ids.map((id) => ({ type: 'call', id, name: 'fork', input: '{}' })) },
});
const result = (call_id: string): Message => ({
  kind: 'result',
  content: { call_id, name: 'fork', status: 'ok', output: `result ${call_id}` },
});

function placed(agent_id: string, from: number, messages: readonly Message[]): PlacedMessage[] {
  return messages.map((message, index) => ({ ...message, agent_id, seq: from + index, at: 1 }));
}

it('events and captures never reach a model', () => {
  const prompt = new Prompt();
  prompt.append(user('seen'));
  prompt.append({ kind: 'event', content: { event: 'killed', text: 'HIDDEN' } });
  prompt.append({ kind: 'capture', content: { text: 'HIDDEN' } });
  assert.equal(prompt.messages().length, 1);
  assert.equal(JSON.stringify(prompt.messages()).includes('HIDDEN'), false);
});

it('results stand in the order of the calls, whatever order they came in', () => {
  const prompt = new Prompt();
  for (const message of [asks('a', 'b', 'c'), result('c'), result('a'), result('b')]) prompt.append(message);
  const [, results] = prompt.messages();
  assert.deepEqual(results?.role === 'results' && results.results.map((one) => one.call_id), ['a', 'b', 'c']);
});

it('siblings share one prefix, a replay gives the same, and it does not change when the parent goes on', () => {
  const parent = new Prompt();
  parent.append(user('task'));
  parent.append(asks('a', 'b'));
  const shared = parent.forked();
  parent.append(result('b'));
  const later = parent.forked();
  parent.append(result('a'));
  parent.append(user('a secret of later'));
  const [one, two] = [new Prompt(shared), new Prompt(later)];
  assert.deepEqual(one.messages(), two.messages());
  assert.equal(JSON.stringify(one.messages()).includes('secret'), false);
  const [, , answers] = one.messages();
  assert.deepEqual(answers?.role === 'results' && answers.results.map((answer) => answer.output), [
    FORK_PLACEHOLDER,
    FORK_PLACEHOLDER,
  ]);
  const replayed = promptOf([
    ...placed('p', 1, [user('task'), asks('a', 'b')]),
    ...placed('child', 3, [user('you are')]),
  ]);
  one.append(user('you are'));
  assert.deepEqual(replayed.messages(), one.messages());
  assert.equal(replayed.shared, one.shared);
});

it('forks of forks replay exactly', () => {
  const history = [
    ...placed('root', 1, [user('1'), asks('a')]),
    ...placed('child', 3, [user('3'), asks('b')]),
    ...placed('grandchild', 5, [user('5')]),
  ];
  const roles = promptOf(history)
    .messages()
    .map((message) => message.role);
  assert.deepEqual(roles, ['user', 'assistant', 'results', 'user', 'assistant', 'results', 'user']);
  assert.equal(promptOf(history).shared, 6);
});

it('a fork before any message starts empty', () => {
  const fork = new Prompt(new Prompt().forked());
  fork.append(user('first'));
  assert.equal(fork.messages().length, 1);
});

it('text that no database can carry is replaced, everything else is kept to the letter', () => {
  assert.equal(storable('a\0b\ud800c🎋'), 'a\u2400b\ufffdc🎋');
  const text = 'naïve 漢字 \u202e\u001b[31m';
  assert.equal(storable(text), text);
});

it('law 10: finds the cycle that new edges would close, and none where there is none', () => {
  const edges: Record<string, string[]> = { b: ['c'], c: ['d', 'a'], d: [] };
  const targetsOf = (id: string) => edges[id] ?? [];
  assert.deepEqual(findWaitCycle('a', ['b'], targetsOf), ['a', 'b', 'c', 'a']);
  assert.deepEqual(findWaitCycle('a', ['a'], targetsOf), ['a', 'a']);
  assert.equal(findWaitCycle('x', ['b', 'd'], targetsOf), null);
});
