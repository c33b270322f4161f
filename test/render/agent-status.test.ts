// Proves that the status word of a working agent is "running" if a request or a call runs, and "waiting" if it only waits.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentState, RunningCall } from '../../src/records/agent/state.ts';
import { statusWord } from '../../src/render/agent-status.ts';
import { AT_WORK, agentOf, call, executing } from '../kernel/turn/turn-stage.ts';

const WAIT = { from: null, deadline: 9 };
const asked: RunningCall = { call: call('asked', 'bash'), ask: { id: 'q', at: 1 } };
const waiting: RunningCall = { call: call('wait'), wait: WAIT };

const CASES: readonly (readonly [string, AgentState, string])[] = [
  ['a model is asked', AT_WORK, 'running'],
  ['a call runs', executing(call('bash')), 'running'],
  ['a person is asked', executing(asked), 'waiting'],
  ['a person was asked, and has allowed the call', executing({ ...asked, approved: true }), 'running'],
  ['a person is asked while another call waits for mail', executing(asked, waiting), 'waiting'],
  ['a person is asked while another call runs', executing(asked, call('bash')), 'running'],
  ['a person waits for mail', { type: 'waiting', wait: WAIT, since: 1 }, 'waiting'],
];

for (const [what, state, word] of CASES)
  it(`${what}: ${word}`, () => assert.equal(statusWord(agentOf('a', { state })), word));
