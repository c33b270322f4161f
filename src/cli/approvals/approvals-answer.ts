import type { AskScope } from '../../records/conversation/ask.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { ask } from '../setup/ask.ts';
import type { Context } from '../setup/context.ts';
import { tellUnled } from '../setup/notices.ts';
import { printJson } from '../setup/output.ts';

export interface AnswerOptions {
  readonly verdict: 'allow' | 'deny';
  readonly scope: AskScope;
  readonly note: string;
}

/** `coppice approvals allow | deny ID`: answers this one call, once; the process that leads the agent continues by itself. */
export function approvalsAnswer(context: Context, text: string, options: AnswerOptions): Promise<number> {
  const { verdict, scope } = options;
  return ask(context, async (asked) => {
    const answered = await (verdict === 'allow'
      ? asked.allow(text, { scope })
      : asked.deny(text, { note: storable(options.note) }));
    if (context.json) {
      printJson(answered);
      return 0;
    }
    await tellUnled(asked, answered.agent_id);
    const { agent_name, tool, subject } = answered;
    const word = verdict === 'allow' ? 'allowed' : 'denied';
    process.stdout.write(`${word} ${clean(agent_name)}: ${tool} ${clean(subject)}\n`);
    return 0;
  });
}
