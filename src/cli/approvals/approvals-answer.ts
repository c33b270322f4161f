import { ruleNotice } from '../../permissions/shell/program.ts';
import type { AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import { shellWord } from '../../settings/suggested-command.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { tellUnled } from '../setup/no-server-notices.ts';
import { printResult } from '../setup/output.ts';

export interface AnswerOptions {
  readonly verdict: 'allow' | 'deny';
  readonly scope: AskScope;
  /** Rule that is granted, unless the scope is `once`. */
  readonly rule?: string | undefined;
  readonly note: string;
  /** The one value that a question needs. */
  readonly answer?: string | undefined;
  /** Values for the form of a question, as `name=value`; a field with several choices has one entry for each choice. */
  readonly values?: readonly string[] | undefined;
  /** Whether a denied question is put away without a decision. */
  readonly dismissed?: boolean | undefined;
}

/** `coppice approvals allow | deny ID`: answers one call; the process that leads the agent continues by itself. */
export function approvalsAnswer(context: Context, text: string, options: AnswerOptions): Promise<number> {
  const { verdict, scope, rule } = options;
  return ask(context, async (asked) => {
    // A whole tool is granted only if the rule names it, or with --agent.
    if (rule === undefined && scope !== 'once' && scope !== 'agent')
      throw await ruleMissing(asked, text, scope);
    const answered = await (verdict === 'allow'
      ? asked.allow(text, { scope, rule, ...valuesOf(options) })
      : asked.deny(text, { note: storable(options.note), dismissed: options.dismissed }));
    if (!context.json) await tellUnled(asked, answered.agent_id);
    const { agent_name, tool, subject, granted } = answered;
    const question = answered.subject_kind === 'question';
    const word = verdict === 'allow' ? (question ? 'answered' : 'allowed') : question ? 'declined' : 'denied';
    const grant = `granted ${clean(granted ?? tool)}; ${context.hint('see: coppice approvals rules list')}`;
    return printResult(context, answered, () => [
      `${word} ${clean(agent_name)}: ${tool} ${clean(subject)}`,
      ...(scope === 'once' ? [] : [grant]),
      ...ruleNotice(granted ?? '').map(clean),
    ]);
  });
}

function valuesOf({ answer, values: written = [] }: Pick<AnswerOptions, 'answer' | 'values'>) {
  if (answer === undefined && written.length === 0) return {};
  const values = new Map<string, string>(answer === undefined ? [] : [['', answer]]);
  for (const one of written) {
    const at = one.indexOf('=');
    if (at < 1) throw new CoppiceError('E_USAGE', `"${one}": write --value NAME=VALUE`);
    const [name, value] = [one.slice(0, at), one.slice(at + 1)];
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return { values: Object.fromEntries(values) };
}

/** Error that offers rules to choose from: nothing is granted before its rule was seen. */
async function ruleMissing(asked: Asked, text: string, scope: AskScope): Promise<CoppiceError> {
  const [only] = (await asked.approvals({ id: text })).approvals;
  const rules = only === undefined ? [] : [only.offered_rule ?? only.tool, ...only.rules];
  const hint = [...new Set(rules)].map(
    (rule) => `coppice approvals allow ${text} --${scope} --rule ${shellWord(clean(rule))}`,
  );
  return new CoppiceError('E_USAGE', `--${scope}: which rule is granted?`, {
    hint: hint.length === 0 ? 'Name it with --rule; see docs/permissions.md' : `Such as\n${hint.join('\n')}`,
  });
}
