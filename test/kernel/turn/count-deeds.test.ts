// Proves what the record of a turn's deeds holds: it is bounded whatever an agent does, and is kept when a failed turn is retried.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countDeeds } from '../../../src/kernel/turn/count-deeds.ts';
import type { View } from '../../../src/kernel/turn/view.ts';
import { type Deeds, type Denied, withCall, withFiles } from '../../../src/records/agent/deeds.ts';
import { deniedCalls, deniedIn, deniedLine } from '../../../src/records/agent/denied.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import { AT_WORK, agentOf } from './turn-stage.ts';

it('the record is bounded, and what it does not name is counted', () => {
  let deeds: Deeds = {};
  for (let index = 0; index < 1_000; index += 1) {
    deeds = withCall(deeds, `tool-${index}`, index % 2 === 0, { command: 'x'.repeat(9_999), exit: 0 });
    deeds = withFiles(deeds, [`src/${'y'.repeat(999)}/${index}`, `${index}`]);
  }
  assert.ok(JSON.stringify(deeds).length < 4_000);
  const made = Object.values(deeds.calls ?? {}).reduce((sum, count) => sum + count.made, 0);
  assert.deepEqual([made, deeds.calls?.other], [1_000, { made: 984, failed: 492 }]);
  assert.equal((deeds.commands?.length ?? 0) + (deeds.more_commands ?? 0), 1_000);
});

it('children that owe an answer count from the real start of a turn, whose clock may have stood still', () => {
  const turn = { ...newTurn(600), began_at: 1, deeds: { children: 2 } };
  const before: AgentState = { type: 'requesting', attempt: 1, turn };
  const children = [
    agentOf('kid', { state: AT_WORK, created_at: 10 }),
    agentOf('old', { state: AT_WORK, created_at: 0 }),
  ];
  const view = {
    tools: new Map(),
    relatives: { children: () => children, members: () => [] },
  } as unknown as View;
  for (const [at, took_ms] of [
    [700, 100],
    // The clock was set back.
    [500, 0],
  ] as const) {
    const event = { type: 'cancel', at, by: 'you', reason: 'x', open: [] } as const;
    const happening = { before, after: { type: 'idle' }, event, effects: [], request: undefined } as const;
    const after = countDeeds(happening, 'a', view);
    assert.deepEqual(after, { type: 'idle', deeds: { children: 2, unanswered: 1, took_ms } });
  }
});

it('a turn that is tried again goes on counting; another turn begins at nothing', () => {
  const deeds: Deeds = { calls: { bash: { made: 1, failed: 0 } } };
  const before: AgentState = {
    type: 'errored',
    failure: { kind: 'network', error: 'x', retryable: true },
    deeds,
  };
  const after: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(2) };
  const view = { tools: new Map() } as unknown as View;
  const next = (event: Parameters<typeof countDeeds>[0]['event']) =>
    countDeeds({ before, after, event, effects: [], request: undefined }, 'a', view);
  assert.deepEqual(next({ type: 'retry', at: 2 }), { ...after, turn: { ...after.turn, deeds } });
  const asked = next({ type: 'input', at: 2, content: { origin: 'human', text: 'go' } });
  assert.equal('turn' in asked && asked.turn.deeds, undefined);
});

it('denied calls are bounded, go on counting in turns that mail begins, and end when a person writes', () => {
  let denied: readonly Denied[] = [];
  for (let index = 0; index < 1_000; index += 1)
    denied = deniedIn(denied, [{ tool: 'bash', calls: 1, allow: `bash:x${index % 40} *` }]);
  assert.deepEqual([denied.length, deniedCalls(denied)], [9, 1_000]);
  const before: AgentState = {
    type: 'idle',
    deeds: { denied, calls: { bash: { made: 1_000, failed: 1_000 } } },
  };
  const after: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(2) };
  const view = { tools: new Map() } as unknown as View;
  const begun = (origin: 'human' | 'mail') => {
    const event = { type: 'input', at: 2, content: { origin, text: 'go' } } as const;
    const next = countDeeds({ before, after, event, effects: [], request: undefined }, 'a', view);
    return 'turn' in next && next.turn.deeds;
  };
  assert.deepEqual([begun('mail'), begun('human')], [{ denied }, undefined]);
});

it('the rule that would have helped most calls comes first, and is written as a shell takes it', () => {
  const line = deniedLine(
    deniedIn(
      [{ tool: 'write', calls: 9, why: 'plan mode' }],
      [{ tool: 'bash', calls: 1, allow: 'bash:echo $HOME' }],
      [{ tool: 'write', calls: 2, allow: 'write:src/**' }],
    ),
  );
  const flags = `write (--allow "write:src/**"), bash (--allow 'bash:echo $HOME'), write (plan mode)`;
  assert.equal(line, `12 calls denied: ${flags}`);
});
