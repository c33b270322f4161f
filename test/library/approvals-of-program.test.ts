/**
 * Proves approvals of a program (docs/library.md#approvals): `onApproval` answers calls that need approval, those it leaves wait in the ledger for anybody, also
 * after a restart, and a callback that fails decides nothing.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { type Approval, type CoppiceOptions, defineTool } from '../../src/coppice.ts';
import type { Tool } from '../../src/core.ts';
import { closeOpened } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { libraryStage } from './library-stage.ts';

after(closeOpened);

const RULES = [
  { when: { tool: 'deploy' }, say: 'I tried' },
  { calls: [{ name: 'deploy', input: { to: 'production' } }] },
];

async function stage(
  coppice: Partial<CoppiceOptions>,
  permission: Partial<Omit<Tool['permission'], 'name'>> = {},
) {
  const ran: string[] = [];
  const deploy = defineTool<{ to: string }>({
    ...{ name: 'deploy', description: 'x', permission },
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    run: ({ to }) => {
      ran.push(to);
      return 'deployed';
    },
  });
  const permissions = { ask: ['deploy'] };
  const on = await libraryStage(RULES as never, {
    ...{ subagents: null, coppice: { tools: [deploy], permissions, ...coppice } },
  });
  return { ...on, ran };
}

it('a callback is told of the call once, and what it answers is done', async () => {
  const asked: Approval[] = [];
  const on = await stage({
    onApproval: async (ask) => {
      asked.push(ask);
      return asked.length === 1 ? 'allow' : { verdict: 'deny', note: 'not on Fridays' };
    },
  });
  await on.ask('one');
  assert.deepEqual(on.ran, ['production']);
  await on.ask('two');
  assert.deepEqual(
    asked.map(({ tool, input, agent_name }) => [tool, input, agent_name]),
    [1, 2].map(() => ['deploy', '{"to":"production"}', 'main']),
  );
  assert.deepEqual(on.ran, ['production'], 'the second call was not run');
  assert.match(JSON.stringify(on.requests.at(-1)?.messages.at(-1)), /not on Fridays/);
});

it('a grant for the session answers the next calls of the tree', async () => {
  let asked = 0;
  const on = await stage({
    onApproval: () => {
      asked += 1;
      return { verdict: 'allow', scope: 'session' };
    },
  });
  const agent = await on.coppice.start({ prompt: 'x' });
  await agent.result();
  await agent.send('again');
  await agent.result();
  assert.deepEqual([asked, on.ran.length], [1, 2]);
});

it('a tool that says how its calls are judged is judged so, where no rule is about it', async () => {
  const permissions = {};
  for (const [permission, ran] of [
    [{ default: 'ask' }, []],
    [{ default: 'deny' }, []],
    [{ allowed: ['{"to":"test"}'] }, []],
    [{ allowed: ['{"to":"prod*"}'] }, ['production']],
    [{ default: 'allow' }, ['production']],
    [{ subject: 'text' }, ['production']],
  ] as const) {
    const on = await stage({ permissions }, permission);
    await on.ask();
    assert.deepEqual(on.ran, ran, JSON.stringify(permission));
  }
  const allowed = await stage({ permissions: { allow: ['deploy'] } }, { default: 'ask' });
  await allowed.ask();
  assert.deepEqual(allowed.ran, ['production']);
  let asked = 0;
  const onApproval = () => {
    asked += 1;
    return 'allow' as const;
  };
  const asking = await stage({ permissions, onApproval }, { default: 'ask' });
  await asking.ask();
  assert.deepEqual([asked, asking.ran], [1, ['production']]);
});

it('without a callback such calls are denied, as ever', async () => {
  const on = await stage({});
  await on.ask();
  assert.deepEqual([on.ran, (await on.coppice.approvals()).approvals], [[], []]);
});

it('in the queue they wait in the ledger, and are answered from anywhere, once', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'asks.db')}`;
  const first = await stage({ database, onApproval: 'queue' });
  const agent = await first.coppice.start({ id: 'deployment', prompt: 'x' });
  await until(async () => (await first.coppice.approvals()).open === 1, 'it asks');
  await first.coppice.close();
  const told: string[] = [];
  const second = await stage({
    database,
    onApproval: (ask) => {
      told.push(ask.id);
      return 'later';
    },
  });
  assert.equal((await second.coppice.resume())[0]?.id, agent.id);
  const [ask] = (await second.coppice.approvals({ tree: 'deployment' })).approvals;
  await until(() => told.length === 1, 'the callback is told after a restart, too');
  assert.equal(told[0], ask?.id);
  const other = await stage({ database });
  await assert.rejects(other.coppice.answer(ask?.id ?? '', 'maybe' as never), { code: 'E_INVALID_ARGUMENT' });
  const loop: { verdict: string; note?: unknown } = { verdict: 'deny' };
  loop.note = loop;
  for (const wrong of [
    ...[{ verdict: 'allow', scope: 'everything' }, { verdict: 'allow', rule: 5 }, loop, 5n],
    ...[
      { verdict: 'deny', note: 7 },
      { verdict: 'deny', reason: 'not noted' },
    ],
  ])
    await assert.rejects(other.coppice.answer(ask?.id ?? '', wrong as never), {
      ...{ name: 'CoppiceError', code: 'E_INVALID_ARGUMENT' },
    });
  await assert.rejects(other.coppice.answer(null as never, 'deny'), { code: 'E_INVALID_ARGUMENT' });
  await other.coppice.answer(ask?.id ?? '', 'allow');
  assert.equal((await (await second.coppice.find('deployment')).result()).reply, 'I tried');
  assert.deepEqual([second.ran, told.length], [['production'], 1]);
  await assert.rejects(other.coppice.answer(ask?.id ?? '', 'deny'), { code: 'E_ASK_ANSWERED' });
});

it('a callback that fails, or answers nonsense, leaves the call in the queue and warns', async () => {
  const warnings: string[] = [];
  const hear = (warning: Error & { code?: string }) => warnings.push(`${warning.code} ${warning.message}`);
  process.on('warning', hear);
  let answer: () => unknown = () => {
    throw new Error('no connection');
  };
  const on = await stage({ onApproval: () => answer() as never });
  const one = await on.coppice.start({ prompt: 'one' });
  await until(() => warnings.length === 1, 'the warning');
  answer = () => 'yes';
  await on.coppice.start({ prompt: 'two' });
  await until(() => warnings.length === 2, 'the second');
  process.off('warning', hear);
  assert.match(warnings[0] ?? '', /^COPPICE_CALLBACK the callback onApproval failed: Error: no connection/);
  assert.match(warnings[1] ?? '', /the answer 'yes' to .* is none/);
  const { approvals, open } = await on.coppice.approvals();
  assert.equal(open, 2);
  for (const { id } of approvals) await on.coppice.answer(id, 'deny');
  assert.equal((await one.result()).reply, 'I tried');
  assert.deepEqual(on.ran, []);
});
