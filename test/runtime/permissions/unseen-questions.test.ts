/**
 * Proves, on both databases, that an answer never reaches a question that was not shown to the one who answers: two people answer, a question is withdrawn
 * and the agent's next call asks, by every way to answer from outside the terminal UI.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ChatTrees } from '../../../src/channels/chat-trees.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import type { Ask } from '../../../src/records/conversation/ask.ts';
import { ledgerOrders } from '../../../src/runtime/orders/ledger-orders.ts';
import { shownDigest } from '../../../src/store/approvals/shown-digest.ts';
import { answerDocument, approvalsDocument } from '../../../src/trees/answers/people-answers.ts';
import { CONFIG } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type ApprovalStage, approvalStage } from './approval-stage.ts';

const ALLOW = { verdict: 'allow', scope: 'once', note: '' } as const;
const act = (what: string) => ['act', { what }] as const;

type Way = (on: ApprovalStage, seen: Ask, open: Ask) => Promise<unknown>;

function chatOf({ store, runtime }: ApprovalStage): ChatTrees {
  const session = () => ({ config: { ...CONFIG, model: 'play/actor' }, limits: DEFAULT_LIMITS });
  return new ChatTrees({ channel: 'chat', store, runtime, session, onWritten: () => undefined });
}

/** Answers with what was seen of an earlier question; `code`: the refusal. */
const WAYS: readonly { readonly name: string; readonly code: string; readonly way: Way }[] = [
  ...[6, 8, 36].map((length) => ({
    name: `the HTTP API or the command line, by ${length} characters of the id`,
    code: 'E_ASK_ANSWERED',
    way: ((on, seen) => answerDocument(on, seen.id.slice(0, length), ALLOW)) as Way,
  })),
  {
    name: 'the HTTP API, by the id of the open one and the digest of the other',
    code: 'E_ASK_CHANGED',
    way: (on, seen, open) => answerDocument(on, open.id, { ...ALLOW, shown: shownDigest(seen) }),
  },
  {
    name: 'the HTTP API, by the id of the open one and that of the other',
    code: 'E_ASK_CHANGED',
    way: (on, seen, open) => answerDocument(on, open.id.slice(0, 8), { ...ALLOW, shown: seen.id }),
  },
  {
    name: 'an order of another process, with the digest',
    code: 'E_ASK_CHANGED',
    way: async (on, seen, open) =>
      ledgerOrders(await on.elsewhere(), {}).answer(open.id, { ...ALLOW, shown: shownDigest(seen) }),
  },
  {
    name: 'a lasting grant with the digest',
    code: 'E_ASK_CHANGED',
    way: (on, seen, open) =>
      on.runtime.answer(open.id, { ...ALLOW, scope: 'always', rule: 'act', shown: shownDigest(seen) }),
  },
  {
    name: 'a chat, by the button of an old message',
    code: 'E_ASK_ANSWERED',
    way: (on, seen) => chatOf(on).answer('7', seen.id, { ...ALLOW, by: 'chat:1' }),
  },
  {
    name: 'a chat, by /approve with the id of an old list',
    code: 'E_ASK_ANSWERED',
    way: (on, seen) => chatOf(on).answer('7', seen.id.slice(0, 8), { ...ALLOW, by: 'chat:1' }),
  },
];

function suite(database: () => Promise<string | undefined>): void {
  const stage = async () => {
    const on = await approvalStage(
      ({ step }) => (step < 20 ? [act(`deed ${step}`)] : 'done'),
      await database(),
      {
        config: { channel: 'chat:7' },
      },
    );
    return { on, root: await on.start() };
  };

  it('of one agent, ids begin differently; lists show enough of each', async () => {
    const { on, root } = await stage();
    const listed: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      const [ask] = await on.asked(root);
      const { approvals } = await approvalsDocument(on, {});
      listed.push(approvals[0]?.short_id ?? '');
      assert.equal(approvals[0]?.shown, shownDigest(ask as Ask));
      assert.equal(approvals[0]?.shown.slice(0, 8), ask?.id.slice(0, 8));
      await on.deny(ask);
      await on.asked(root, 1);
      await questionAfter(ask as Ask, on, root);
    }
    assert.equal(new Set(listed).size, 8, listed.join());
    assert.ok(new Set(listed.map((id) => id[0])).size > 1, listed.join());
    assert.ok(listed.every((id) => id.length >= 8));
  });

  for (const { name, code, way } of WAYS)
    it(`${name}: what was seen of a denied or withdrawn question answers no later one`, async () => {
      const { on, root } = await stage();
      const [denied] = (await on.asked(root)) as [Ask];
      await on.deny(denied);
      const withdrawn = await questionAfter(denied, on, root);
      await assert.rejects(way(on, denied, withdrawn), { code });
      await on.runtime.interrupt(root.id, 'stop that');
      await on.runtime.settled(root.id);
      await on.runtime.send(root.id, 'go on');
      const open = await questionAfter(withdrawn, on, root);
      for (const seen of [denied, withdrawn]) {
        await assert.rejects(way(on, seen, open), { code });
        const meant = on.store.findAsks(seen.id).then(([ask]) => ask?.verdict);
        assert.equal(await meant, seen === denied ? 'deny' : 'void');
      }
      assert.equal((await on.store.findAsks(open.id))[0]?.verdict, null);
      assert.deepEqual(on.deeds, []);
      assert.deepEqual(await on.store.grants({ root_id: root.id }), []);
      // What was shown of the open one answers it.
      await on.runtime.answer(open.id, { ...ALLOW, shown: shownDigest(open) });
      await questionAfter(open, on, root);
      assert.deepEqual(
        on.deeds.map(({ agent }) => agent),
        ['main'],
      );
    });

  it('a lasting grant that is refused leaves no rule in the file', async () => {
    const { on, root } = await stage();
    const [ask] = (await on.asked(root)) as [Ask];
    const rules_file = join(root.config.cwd, 'rules.json');
    const answer = { ...ALLOW, scope: 'always', rule: 'act', shown: 'f'.repeat(64) } as const;
    await assert.rejects(ledgerOrders(on.store, { rules_file }).answer(ask.id, answer), {
      code: 'E_ASK_CHANGED',
    });
    assert.equal(existsSync(rules_file), false);
  });
}

/** The open question after `before`. */
async function questionAfter(before: Ask, on: ApprovalStage, root: { readonly id: string }): Promise<Ask> {
  let next: Ask | undefined;
  await until(async () => {
    [next] = await on.store.asks({ root_id: root.id, open: true });
    return next !== undefined && next.id !== before.id;
  }, 'another question');
  return next as Ask;
}

onBothDatabases('an answer and the question that was seen', suite);
