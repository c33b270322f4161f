// Proves that calls of sub-agents are told one by one where a model numbers them anew in each answer, and two sub-agents of the same ids apart.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SubagentWatch } from '../../src/library/subagents/subagent-watch.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../src/records/agent/state.ts';
import type { CallPart, Message } from '../../src/records/conversation/message.ts';
import { CONFIG, termsOf } from '../store/ledger-fixture.ts';

function watching() {
  const told: string[] = [];
  const watch = new SubagentWatch({
    onSubagentToolCallStart: (id, call) => void told.push(`${id} begins ${call.id} ${call.name}`),
    onSubagentToolCallEnd: (id, call) => void told.push(`${id} ends ${call.id} ${call.name}: ${call.output}`),
  });
  const state = { type: 'requesting', attempt: 1, turn: newTurn(1) } as AgentState;
  const config = { ...CONFIG, task: termsOf({ kind: 'delegate' }) };
  const begin = (id: string) =>
    watch.see({ type: 'agent', agent: { id, name: id, state, config } as Agent, created: true });
  let seq = 0;
  const say = (id: string, message: Message) => {
    seq += 1;
    watch.see({ type: 'message', agent_id: id, message: { agent_id: id, seq, at: 1, ...message } });
  };
  const call = (id: string, name: string, read?: CallPart['read']) => {
    const part = { type: 'call', id: 'call_1', name, input: '{}', ...(read && { read }) } as const;
    say(id, { kind: 'assistant', content: { model: 'm', parts: [part] } });
  };
  const answer = (id: string, name: string, output: string) =>
    say(id, { kind: 'result', content: { call_id: 'call_1', name, status: 'ok', output } });
  return { told, begin, call, answer };
}

it('a call with the id of an earlier one begins and ends, too', () => {
  const { told, begin, call, answer } = watching();
  begin('a');
  for (const name of ['read', 'write']) {
    call('a', name);
    answer('a', name, 'done');
  }
  assert.deepEqual(told, [
    'a begins call_1 read',
    'a ends call_1 read: done',
    'a begins call_1 write',
    'a ends call_1 write: done',
  ]);
});

it('calls of two sub-agents that have the same id', () => {
  const { told, begin, call, answer } = watching();
  for (const id of ['a', 'b']) begin(id);
  for (const id of ['a', 'b']) call(id, 'read');
  for (const id of ['b', 'a']) answer(id, 'read', `of ${id}`);
  // A second result of a call that has ended is none.
  answer('a', 'read', 'again');
  assert.deepEqual(told, [
    'b begins call_1 read',
    'b ends call_1 read: of b',
    'a begins call_1 read',
    'a ends call_1 read: of a',
  ]);
});

it('a call that was read as another one is told as the one that runs', () => {
  const { told, begin, call, answer } = watching();
  begin('a');
  call('a', 'Edit', { name: 'patch', input: '{}', changes: ['Edit → patch'] });
  answer('a', 'patch', 'done');
  assert.deepEqual(told, ['a begins call_1 patch', 'a ends call_1 patch: done']);
});
