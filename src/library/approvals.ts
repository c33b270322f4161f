import { inspect } from 'node:util';
import * as z from 'zod';
import { approvalsJson, type ListedApproval } from '../documents/approval-json.ts';
import type { Agent } from '../records/agent/agent.ts';
import { ASK_SCOPES, type AskAnswer, type AskScope } from '../records/conversation/ask.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import { answerDocument } from '../trees/answers/people-answers.ts';
import { AskWatch } from '../trees/approvals.ts';
import { warnOfCallback } from './engine.ts';

interface Ground {
  readonly runtime: RuntimeFace;
  readonly store: Store;
}

/** A call or a question that waits for an answer, as `coppice approvals list --json` has it. */
export type Approval = ListedApproval;

/** `allow` and `deny` answer this one call. `scope`: how far an `allow` reaches, by `rule` (docs/approvals.md). `note`: what the model reads of a `deny`. */
export type ApprovalAnswer =
  | AskAnswer['verdict']
  | (Pick<AskAnswer, 'verdict' | 'rule' | 'values'> & {
      readonly scope?: AskScope;
      readonly note?: string;
    });

/** Answers an approval, or leaves it in the queue for whoever answers `later`. */
export type OnApproval = (ask: Approval) => ApprovalAnswer | 'later' | Promise<ApprovalAnswer | 'later'>;

const ANSWER = z.strictObject({
  ...{ verdict: z.enum(['allow', 'deny']), scope: z.enum(ASK_SCOPES).optional() },
  ...{ rule: z.string().optional(), note: z.string().optional(), values: z.looseObject({}).optional() },
});

/** Answers one approval by its id. Rejects with `E_ASK_ANSWERED` if somebody else has. */
export async function answerApproval(ground: Ground, id: string, answer: ApprovalAnswer, shown?: string) {
  const given = typeof answer === 'string' ? { verdict: answer } : answer;
  if (typeof id !== 'string' || !ANSWER.safeParse(given).success)
    throw new CoppiceError('E_INVALID_ARGUMENT', `the answer ${inspect(answer)} to ${inspect(id)} is none`, {
      hint: `Answer an id with 'allow', 'deny' or { verdict, scope, rule, note, values }; scopes: ${ASK_SCOPES.join(', ')}`,
    });
  return answerDocument(ground, id, { ...given, ...(shown === undefined ? {} : { shown }) });
}

/** Tells the callback of each approval of the agents that this process leads, once; one that fails leaves it open. */
export function approvalWatch(ground: Ground, onApproval: OnApproval): (agent: Agent) => void {
  const watch = new AskWatch();
  const told = new Set<string>();
  const tell = async (ask: Approval): Promise<void> => {
    const answer = await onApproval(ask);
    if (answer !== 'later') await answerApproval(ground, ask.id, answer, ask.shown);
  };
  const failed = (error: unknown) => {
    if (error instanceof CoppiceError && error.code === 'E_ASK_ANSWERED') return;
    warnOfCallback('onApproval', error);
  };
  return (agent) => {
    if (!watch.changed(agent)) return;
    const look = async () => {
      const open = await ground.store.asks({ agent_id: agent.id, open: true });
      const fresh = open.filter(({ id }) => !told.has(id) && told.add(id));
      for (const ask of await approvalsJson(ground.store, fresh)) void tell(ask).catch(failed);
    };
    void look().catch(failed);
  };
}
