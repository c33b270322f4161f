import { admit, wantedBy } from '../../kernel/ledger/admit.ts';
import { answerAsk } from '../../kernel/ledger/answers.ts';
import { createRoot, treeOf } from '../../kernel/ledger/births.ts';
import { kill } from '../../kernel/ledger/deaths.ts';
import type { TreeFacts } from '../../kernel/ledger/facts.ts';
import { type Sent, send } from '../../kernel/ledger/mailbox.ts';
import type { Step, Verdict } from '../../kernel/step.ts';
import type { Tree } from '../../records/agent/agent.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { TreeWrites } from '../store.ts';
import type { Database } from './database.ts';
import { LIVING } from './fact-queries.ts';
import { stepToken } from './step-token.ts';
import { Together } from './together.ts';

/** Everything that changes a tree but its leases. */
export function treeWrites(db: Database): TreeWrites {
  const letters = new Together<NewMail, Sent>((mails) =>
    db.transact({ agent: mails.map(({ to_id }) => to_id), mail: mails.map(({ id }) => id) }, (unit) =>
      mails.map((mail) => send(unit, mail)),
    ),
  );
  return {
    createRoot: (root, limits, terms = {}) =>
      db.transact({ tree: [root.agent.id] }, (unit) => createRoot(unit, root, limits, terms)),

    commit: (steps: readonly Step[]): Promise<Verdict[]> => {
      const offers = steps.map((step) => ({ step, token: stepToken(step) }));
      return db.transact(wantedBy(offers), (unit) => offers.map((offer) => admit(unit, offer)));
    },

    send: (mail) => letters.do(mail),

    kill: (agent_id, by, at) =>
      db.transact({ agent: [agent_id], below: [agent_id] }, (unit) => ({
        ids: kill(unit, agent_id, by, at, null),
      })),

    setLimits: (root_id, limits): Promise<Tree> =>
      db.transact({ tree: [root_id] }, (unit) =>
        treeOf(unit, unit.setTree(unit.tree(root_id) as TreeFacts, { limits: JSON.stringify(limits) })),
      ),

    answer: (ask_id, answer) => db.transact({ ask: [ask_id] }, (unit) => answerAsk(unit, ask_id, answer)),

    reap: async (root_id, at) => {
      const sql = `UPDATE agents SET reaped_at = $2 WHERE root_id = $1 AND reaped_at IS NULL AND parent_id IS NOT NULL
        AND NOT (${LIVING}) RETURNING id`;
      return (await db.write(sql, [root_id, at])).map((row) => row.id as string);
    },
  };
}
