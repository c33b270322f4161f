// Proves what a script gets for its timers and notes, and for a call whose agent a person has run again: once, from the agent that works for it then, also if it is run again twice, and of two calls each its own.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecordedRun } from '../../src/models/workflow/recorded-run.ts';
import { PERSON } from '../../src/records/conversation/facts/wait-row.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';

const RETRY = '/retry ';

/** The conversation of a run, written message by message; `got`: what its script gets of what is new. */
function recording() {
  const run = new RecordedRun(0, null);
  const messages: object[] = [];
  const got = () =>
    run
      .next(messages as PromptMessage[])
      .entries.map((entry) => [entry.call, entry.type, 'value' in entry ? entry.value : null]);
  return {
    run,
    got,
    calls: (...numbers: number[]) => {
      const parts = numbers.map((number) => {
        const input = JSON.stringify({ key: `${number}`, prompt: 'x' });
        return { type: 'call', id: `call-${number}`, name: 'agent', input };
      });
      messages.push({ role: 'assistant', parts });
    },
    result: (call_id: string, name: string, output: object | null) => {
      const given = output === null ? ['error', 'refused'] : ['ok', JSON.stringify(output)];
      const [status, text] = given;
      messages.push({ role: 'results', results: [{ call_id, name, status, output: text }] });
    },
    arrived: (...arrived: object[]) =>
      messages.push({ role: 'user', text: '', arrived: { now: 1, arrived } }),
  };
}

const letter = (agent_id: string) => ({ from: PERSON, text: `${RETRY}${agent_id}` });
const failed = (agent_id: string) => ({
  agent_id,
  outcome: { type: 'failure', error_kind: 'model', error: `of ${agent_id}`, partial: null },
});
const done = (agent_id: string) => ({ agent_id, outcome: { type: 'success', result: `by ${agent_id}` } });

it('of two calls, the one whose agent is run again gets what the second agent has', () => {
  const { got, calls, result, arrived } = recording();
  calls(1, 2);
  for (const number of [1, 2]) result(`call-${number}`, 'agent', { agent_id: `A${number}` });
  arrived(letter('A1'), failed('A1'), done('A2'));
  assert.deepEqual(got(), [[2, 'value', 'by A2']]);
  result('retry-0-1', 'retry', { agent_id: 'B1' });
  arrived(done('B1'), done('A1'));
  assert.deepEqual(got(), [[1, 'value', 'by B1']]);
});

it('an agent that cannot be run again leaves what the first had; one that cannot be run a second time goes on', () => {
  const { got, calls, result, arrived } = recording();
  calls(1, 2);
  for (const number of [1, 2]) result(`call-${number}`, 'agent', { agent_id: `A${number}` });
  arrived(letter('A1'), letter('A2'), failed('A1'), failed('A2'));
  result('retry-0-1', 'retry', null);
  result('retry-0-2', 'retry', { agent_id: 'B2' });
  assert.deepEqual(
    got().map(([call, type]) => [call, type]),
    [[1, 'failed']],
  );
  // It is at work: there is nothing to give in its place.
  arrived(letter('B2'));
  result('retry-0-2', 'retry', null);
  assert.deepEqual(got(), []);
  arrived(done('B2'));
  assert.deepEqual(got(), [[2, 'value', 'by B2']]);
});

it('a timer is over at its time, each once, the sooner first', () => {
  const { got, calls, result, arrived } = recording();
  calls(1, 2, 3);
  for (const [number, until] of [
    [1, 1],
    [2, 0.5],
    [3, 2],
  ])
    result(`call-${number}`, 'sleep', { until });
  arrived();
  assert.deepEqual(got(), [
    [2, 'value', null],
    [1, 'value', null],
  ]);
  arrived();
  assert.deepEqual(got(), []);
});

it('what was told with results is told in one answer, each once', () => {
  const { run, got, calls, result } = recording();
  calls(1, 2);
  for (const number of [1, 2]) result(`call-${number}`, 'agent', { agent_id: `A${number}`, note: 'slow' });
  got();
  assert.deepEqual(run.notes, ['slow']);
  calls(3);
  got();
  assert.deepEqual(run.notes, []);
});
