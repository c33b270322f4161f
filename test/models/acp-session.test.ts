// Proves that a call of an agent program that names very many files is refused at once, without checking each file.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AcpSession } from '../../src/models/acp/acp-session.ts';
import { AcpTurn } from '../../src/models/acp/acp-turn.ts';
import type { ModelHost } from '../../src/models/model-host.ts';

it('a call that names 100,000 files', async () => {
  let judged = 0;
  const permit = async () => {
    judged += 1;
    return null;
  };
  const host = { permit } as unknown as ModelHost;
  const session = new AcpSession('s');
  session.beginTurn(new AcpTurn(() => undefined), host);
  const options = [
    { kind: 'allow_once', optionId: 'yes', name: 'yes' },
    { kind: 'reject_once', optionId: 'no', name: 'no' },
  ] as const;
  const ask = async (count: number) => {
    const locations = Array.from({ length: count }, (_, at) => ({ path: `/${at}` }));
    const toolCall = { toolCallId: `${count}`, kind: 'edit', locations } as const;
    return (await session.permission({ sessionId: 's', toolCall, options: [...options] })).outcome;
  };
  assert.deepEqual(await ask(3), { outcome: 'selected', optionId: 'yes' });
  assert.equal(judged, 3);
  assert.deepEqual(await ask(100_000), { outcome: 'selected', optionId: 'no' });
  assert.equal(judged, 3);
  assert.match(session.refused ?? '', /at most 200 files, and this one names 100000/);
});
