import { coveredBy, grantFault } from '../../permissions/grants/grant.ts';
import { addRule, removeRule } from '../../permissions/grants/rules-file.ts';
import type { Ask, AskAnswer } from '../../records/conversation/ask.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { questionOf } from '../../records/question/question.ts';
import type { Store } from '../store.ts';
import { findAsk } from './find-ask.ts';
import { isAsShown, shownDigest } from './shown-digest.ts';

type ApprovalStore = Pick<Store, 'answer' | 'asks' | 'findAsks' | 'now'>;

/** The file of permanently granted rules; undefined: rules cannot be granted permanently here. */
export interface RulesPlace {
  readonly rules_file?: string | undefined;
}

/**
 * Answers a question, and all other open questions that its grant covers. Resolves to the mail that tells the agents. Rejects with `E_ASK_ANSWERED`, with
 * `E_ASK_CHANGED` if it is not what was shown, with `E_INVALID_ARGUMENT` for a rule that does not match the call or values that do not fit the form, and with `E_CONFIG` when the rules file cannot be changed;
 * then nothing is answered.
 */
export async function answerApproval(
  store: ApprovalStore,
  ask_id: string,
  given: AskAnswer,
  { rules_file }: RulesPlace,
): Promise<readonly Mail[]> {
  const asked = (await store.findAsks(ask_id)).find(({ id }) => id === ask_id);
  if (asked?.verdict === null && !isAsShown(asked, given.shown ?? ask_id)) throw changed();
  const filled = asked?.verdict === null ? await filledIn(asked, given) : given;
  // A grant for a script is one for its contents, never for the whole tool.
  const is_script = asked?.subject_kind === 'script' && filled.scope !== 'once';
  const answer = is_script ? { ...filled, rule: filled.rule ?? `${asked.tool}:${asked.subject}` } : filled;
  const found = answer.verdict === 'allow' && answer.scope !== 'once' ? asked : undefined;
  if (found !== undefined) checkGrant(found, answer, rules_file);
  const kept = found?.verdict === null && answer.scope === 'always' ? rules_file : undefined;
  if (found !== undefined && kept !== undefined) keepRule(kept, found, answer);
  const result = await store.answer(ask_id, answer);
  if (!result.ok) {
    // Another answer was committed first.
    if (kept !== undefined) removeRule(kept, ask_id);
    if (result.changed === true) throw changed();
    // Says who answered, and how.
    await findAsk(store, ask_id);
    throw new CoppiceError('E_ASK_ANSWERED', 'this was already answered, or its call no longer exists');
  }
  return found === undefined ? [result.mail] : [result.mail, ...(await answerCovered(store, found, answer))];
}

function changed(): CoppiceError {
  return new CoppiceError('E_ASK_CHANGED', 'the question changed: look again; nothing was answered', {
    hint: 'See: coppice approvals list',
  });
}

/** Returns the answer with the values of a form as its note. Rejects with `E_INVALID_ARGUMENT`. */
async function filledIn(ask: Ask, { values, dismissed, ...answer }: AskAnswer): Promise<AskAnswer> {
  const question = questionOf(ask);
  const refuse = (message: string, hint: string) => new CoppiceError('E_INVALID_ARGUMENT', message, { hint });
  if (question === null) {
    if (values === undefined && dismissed !== true) return answer;
    throw refuse('this is a call that waits for approval: it takes no values', 'Allow it, or deny it');
  }
  if (answer.verdict === 'deny') return { ...answer, dismissed };
  if (answer.scope !== 'once' || answer.rule !== undefined)
    throw refuse('a question is answered by a person each time: no rule can be granted', 'Answer it once');
  const { formValues } = await import('../../records/question/form-values.ts');
  const read = formValues(question.fields, values ?? {});
  if (!read.ok)
    throw refuse(
      read.error,
      `Give the value: /allow VALUE, or coppice approvals allow ${ask.id.slice(0, 8)} VALUE; in a form of several fields, NAME=VALUE and --value NAME=VALUE`,
    );
  return { ...answer, note: JSON.stringify(read.values) };
}

function checkGrant(ask: Ask, { rule, scope }: AskAnswer, rules_file: string | undefined): void {
  const fault = rule === undefined ? null : grantFault(rule, ask);
  if (fault !== null)
    throw new CoppiceError('E_INVALID_ARGUMENT', fault, {
      hint: 'See docs/permissions.md for how rules match',
    });
  if (scope === 'always' && rules_file === undefined)
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      'permanent rules cannot be granted here: there is no rules file',
      {
        hint: 'Grant it for the session',
      },
    );
}

function keepRule(file: string, ask: Ask, { rule = ask.tool, by, at }: AskAnswer): void {
  addRule(file, {
    ...{ id: ask.id, rule, folder: ask.cwd, asked_by: ask.rule },
    ...{ granted_by: by, granted_at: new Date(at).toISOString() },
  });
}

async function answerCovered(store: ApprovalStore, ask: Ask, { scope, rule = ask.tool, by, at }: AskAnswer) {
  const open = await store.asks({ ...(scope === 'always' ? {} : { root_id: ask.root_id }), open: true });
  const mails: Mail[] = [];
  for (const one of coveredBy({ ask, scope, rule }, open)) {
    const shown = shownDigest(one);
    const result = await store.answer(one.id, { verdict: 'allow', scope: 'once', shown, note: '', by, at });
    // If not, another answer was committed first.
    if (result.ok) mails.push(result.mail);
  }
  return mails;
}

/**
 * Revokes what an answer granted, in the ledger and in the rules file. Resolves to false if there is no such rule. Rejects with `E_CONFIG` when the rules
 * file cannot be changed.
 */
export async function revokeRule(
  store: Pick<Store, 'revoke'>,
  id: string,
  at: number,
  { rules_file }: RulesPlace,
): Promise<boolean> {
  const kept = rules_file !== undefined && removeRule(rules_file, id);
  return (await store.revoke(id, at)) || kept;
}
