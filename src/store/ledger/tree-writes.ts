import { hash } from 'node:crypto';
import { admit, factKeysOf } from '../../kernel/ledger/admit.ts';
import { answerAsk } from '../../kernel/ledger/answer-ask.ts';
import { changeBudget } from '../../kernel/ledger/budgets.ts';
import { createRoot, treeRecord } from '../../kernel/ledger/create-agents.ts';
import type { TreeFacts } from '../../kernel/ledger/facts.ts';
import { kill } from '../../kernel/ledger/kill.ts';
import { type SendResult, send, takeBack } from '../../kernel/ledger/post-mail.ts';
import type { Step, Verdict } from '../../kernel/step.ts';
import { changeTasks } from '../../kernel/tasks/change-tasks.ts';
import type { Tree } from '../../records/agent/agent.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { TreeWrites } from '../store.ts';
import { Batcher } from './batcher.ts';
import type { Database } from './database.ts';
import { LIVING } from './sql-conditions.ts';

/** Everything that changes a tree, except its leases. */
export function treeWrites(db: Database): TreeWrites {
  const mail_batcher = new Batcher<NewMail, SendResult>((mails) =>
    db.transact({ agent: mails.map(({ to_id }) => to_id), mail: mails.map(({ id }) => id) }, (unit) =>
      mails.map((mail) => send(unit, mail)),
    ),
  );
  return {
    createRoot: (root, limits, terms = {}) =>
      db.transact({ tree: [root.agent.id] }, (unit) => createRoot(unit, root, limits, terms)),

    commit: (steps: readonly Step[]): Promise<Verdict[]> => {
      const submitted = steps.map((step) => ({ step, token: stepToken(step) }));
      return db.transact(factKeysOf(submitted), (unit) => submitted.map((one) => admit(unit, one)));
    },

    send: (mail) => mail_batcher.add(mail),

    takeBack: (to_id, mail_id) =>
      db.transact({ agent: [to_id], mail: [mail_id] }, (unit) => takeBack(unit, to_id, mail_id)),

    // The list is read under the lock of the tree.
    changeTasks: (call, order) =>
      db.transact({ agent: [call.agent_id], tasks: [call.root_id] }, (unit) =>
        changeTasks(unit, call, order),
      ),

    kill: (agent_id, by, at) =>
      db.transact({ agent: [agent_id], below: [agent_id] }, (unit) => ({
        ids: kill(unit, agent_id, by, at, null),
      })),

    setLimits: (root_id, limits): Promise<Tree> =>
      db.transact({ tree: [root_id] }, (unit) =>
        treeRecord(unit, unit.setTree(unit.tree(root_id) as TreeFacts, { limits: JSON.stringify(limits) })),
      ),

    changeBudget: (agent_id, wanted) =>
      db.transact({ agent: [agent_id] }, (unit) => changeBudget(unit, agent_id, wanted)),

    answer: (ask_id, answer) => db.transact({ ask: [ask_id] }, (unit) => answerAsk(unit, ask_id, answer)),

    revoke: async (ask_id, at) => {
      const sql = `UPDATE asks SET revoked_at = $2 WHERE id = $1 AND verdict = 'allow' AND scope <> 'once' AND revoked_at IS NULL RETURNING id`;
      return (await db.write(sql, [ask_id, at])).length > 0;
    },

    reap: async (root_id, at) => {
      const sql = `UPDATE agents SET reaped_at = $2 WHERE root_id = $1 AND reaped_at IS NULL AND parent_id IS NOT NULL
        AND NOT (${LIVING}) RETURNING id`;
      return (await db.write(sql, [root_id, at])).map((row) => row.id as string);
    },
  };
}

/**
 * Token by which the ledger recognises a retry of a step without messages after a lost acknowledgement. Null for all other steps, which are identified by
 * their place in the conversation.
 */
function stepToken(step: Step): string | null {
  if (step.messages.length > 0) return null;
  return hash('sha256', JSON.stringify(step), 'base64url').slice(0, 22);
}
