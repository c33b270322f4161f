// Proves how far an answer reaches: a permanent one also to open questions of other trees in its folder, and one that came second leaves no rule behind.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { readRules } from '../../src/permissions/grants/rules-file.ts';
import type { Ask, AskAnswer } from '../../src/records/conversation/ask.ts';
import { answerApproval } from '../../src/store/approvals/answer-approval.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openAsk } from './ledger-fixture.ts';

const id = (number: number) => `0000000${number}-0000-4000-8000-00000000000${number}`;
const asked = (number: number, root_id: string, cwd: string): Ask =>
  openAsk({
    ...{ id: id(number), root_id, agent_id: root_id, cwd },
    ...{ tool: 'bash', subject: 'ls', subject_kind: 'command', rule: 'ask(bash)' },
  });
const OPEN = [asked(1, 'r', '/x'), asked(2, 'r', '/x'), asked(3, 's', '/x'), asked(4, 's', '/y')];

/** Answers the first question; returns the ids that were answered and the rules that were kept. */
async function answered(over: Partial<AskAnswer>, wins = true) {
  const ids: string[] = [];
  const rules_file = join(temporaryFolder(), 'rules.json');
  const store = {
    findAsks: async (text: string) => OPEN.filter((ask) => ask.id === text),
    asks: async ({ root_id }: { readonly root_id?: string }) =>
      OPEN.filter((ask) => root_id === undefined || ask.root_id === root_id),
    answer: async (ask_id: string) => {
      if (!wins) return { ok: false };
      ids.push(ask_id);
      return { ok: true, mail: {} };
    },
  } as unknown as Parameters<typeof answerApproval>[0];
  const answer: AskAnswer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 1, ...over };
  const ended = await answerApproval(store, id(1), answer, { rules_file }).then(
    () => 'done',
    ({ code }: { readonly code: string }) => code,
  );
  return { ended, ids, rules: readRules(rules_file).map((rule) => rule.id) };
}

it('a permanent answer reaches every tree in its folder, one for the session only its tree, one for once only its call', async () => {
  const done = { ended: 'done' };
  assert.deepEqual(await answered({ scope: 'always' }), {
    ...done,
    ...{ ids: [id(1), id(2), id(3)], rules: [id(1)] },
  });
  assert.deepEqual(await answered({ scope: 'session' }), { ...done, ids: [id(1), id(2)], rules: [] });
  assert.deepEqual(await answered({}), { ...done, ids: [id(1)], rules: [] });
});

it('a permanent answer that comes second keeps no rule', async () => {
  assert.deepEqual(await answered({ scope: 'always' }, false), {
    ...{ ended: 'E_ASK_ANSWERED', ids: [], rules: [] },
  });
});
