import { askJson } from '../../documents/approval-json.ts';
import type { AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { findAsk } from '../../serve/api/find-rows.ts';
import { tellUnled } from '../../serve/leading/unled.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';

export interface AnswerOptions {
  readonly verdict: 'allow' | 'deny';
  readonly scope: AskScope;
  readonly note: string;
}

/** `coppice approvals allow | deny ID`: answers this one call, once; the process that leads the agent continues by itself. */
export function approvalsAnswer(context: Context, text: string, options: AnswerOptions): Promise<number> {
  return withStore(context, async (store) => {
    const ask = await findAsk(store, text);
    const note = storable(options.note);
    const result = await store.answer(ask.id, { ...options, note, by: 'you', at: Date.now() });
    if (!result.ok) {
      const why = ask.verdict === 'void' ? 'its call is gone' : 'it was answered already';
      throw new CoppiceError('E_ASK_ANSWERED', `the approval ${ask.id.slice(0, 8)} is closed: ${why}`);
    }
    const [answered = ask] = await store.findAsks(ask.id);
    if (context.json) printJson({ schema: 'coppice/approval/v1', ...askJson(answered) });
    else {
      const word = options.verdict === 'allow' ? 'allowed' : 'denied';
      process.stdout.write(`${word} ${clean(ask.agent_name)}: ${ask.tool} ${clean(ask.subject)}\n`);
      await tellUnled(context, store, ask.root_id);
    }
    return 0;
  });
}
