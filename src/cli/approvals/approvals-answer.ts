import { askJson } from '../../documents/approval-json.ts';
import type { ApprovalDocument } from '../../documents/shapes/document-parts.ts';
import type { AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { findAsk } from '../../serve/api/find-rows.ts';
import { tellUnled } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import { type Context, fromEither } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';

export interface AnswerOptions {
  readonly verdict: 'allow' | 'deny';
  readonly scope: AskScope;
  readonly note: string;
}

/** `coppice approvals allow | deny ID`: answers this one call, once; the process that leads the agent continues by itself. */
export async function approvalsAnswer(
  context: Context,
  text: string,
  options: AnswerOptions,
): Promise<number> {
  const { verdict, scope } = options;
  const note = storable(options.note);
  const answered = await fromEither<ApprovalDocument>(
    context,
    (store) => answerHere(context, store, text, { ...options, note }),
    (client) =>
      verdict === 'allow' ? client.allow(text, { scope }) : client.deny(text, note === '' ? {} : { note }),
  );
  if (context.json) printJson({ schema: 'coppice/approval/v1', ...answered });
  else {
    const word = verdict === 'allow' ? 'allowed' : 'denied';
    process.stdout.write(
      `${word} ${clean(answered.agent_name)}: ${answered.tool} ${clean(answered.subject)}\n`,
    );
  }
  return 0;
}

async function answerHere(
  context: Context,
  store: Store,
  text: string,
  options: AnswerOptions,
): Promise<ApprovalDocument> {
  const ask = await findAsk(store, text);
  const result = await store.answer(ask.id, { ...options, by: 'you', at: Date.now() });
  if (!result.ok) {
    const why = ask.verdict === 'void' ? 'its call is gone' : 'it was answered already';
    throw new CoppiceError('E_ASK_ANSWERED', `the approval ${ask.id.slice(0, 8)} is closed: ${why}`);
  }
  if (!context.json) await tellUnled(context, store, ask.root_id);
  const [answered = ask] = await store.findAsks(ask.id);
  return askJson(answered);
}
