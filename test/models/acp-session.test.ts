// Proves that a call of an agent program that names very many files is refused at once, without checking each file.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AcpSession } from '../../src/models/agent-programs/acp-session.ts';
import { AcpTurn } from '../../src/models/agent-programs/acp-turn.ts';
import type { ModelHost } from '../../src/models/model-host.ts';

it('a permission that is given when its prompt has ended is worth nothing, also if another prompt has begun', async () => {
  const session = new AcpSession('s');
  const given: (() => void)[] = [];
  const host = (): ModelHost =>
    ({ permit: () => new Promise((resolve) => given.push(() => resolve(null))) }) as unknown as ModelHost;
  const options = [{ kind: 'allow_once', optionId: 'yes', name: 'yes' } as const];
  const ask = (id: string) =>
    session.permission({
      sessionId: 's',
      toolCall: { toolCallId: id, kind: 'edit', locations: [{ path: '/a' }] },
      options,
    });
  session.beginTurn(new AcpTurn(() => undefined), host());
  const late = ask('one');
  await session.endTurn();
  session.beginTurn(new AcpTurn(() => undefined), host());
  const next = ask('two');
  for (const give of given) give();
  assert.deepEqual((await late).outcome, { outcome: 'cancelled' });
  assert.deepEqual((await next).outcome, { outcome: 'selected', optionId: 'yes' });
});

it('a command that starts while its prompt ends is stopped, and none of the next prompt', async () => {
  const session = new AcpSession('s');
  const killed: string[] = [];
  const started: Record<string, () => void> = {};
  const host = (): ModelHost =>
    ({
      startCommand: ({ command }: { readonly command: string }) =>
        new Promise((resolve) => {
          const terminal = { kill: async () => void killed.push(command) };
          started[command] = () => resolve({ ok: true, terminal });
        }),
    }) as unknown as ModelHost;
  session.beginTurn(new AcpTurn(() => undefined), host());
  const late = session.createTerminal({ sessionId: 's', command: 'late' });
  await session.endTurn();
  session.beginTurn(new AcpTurn(() => undefined), host());
  const next = session.createTerminal({ sessionId: 's', command: 'next' });
  for (const start of Object.values(started)) start();
  await assert.rejects(late, /the prompt has ended/);
  assert.equal(await next, 'terminal-1');
  assert.deepEqual(killed, ['late']);
});

it('text after a call is a paragraph of its own, once, and a call that is told again is one', () => {
  const told: string[] = [];
  const turn = new AcpTurn((delta) =>
    told.push(delta.type === 'call' ? `[${delta.id}]` : 'text' in delta ? delta.text : ''),
  );
  const say = (text: string) => turn.message({ content: { type: 'text', text } });
  say('a');
  for (const id of ['one', 'two', 'one']) turn.call(id, 'tool');
  say('b');
  say('c');
  turn.call('two', 'tool');
  say('d');
  assert.deepEqual(told, ['a', '[one]', '[two]', '\n\nb', 'c', 'd']);
});

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
