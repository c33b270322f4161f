import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { ruleNotice } from '../../permissions/shell/program.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { grantReach } from '../../render/grant-reach.ts';
import { shortIds } from '../../render/short-ids.ts';
import { paint, sign } from '../../render/style.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

type Rules = DocumentOf<'coppice/rules/v1'>;

/** `coppice approvals rules list`: lists the rules that were granted in answer to approvals and still hold. */
export async function rulesList(context: Context): Promise<number> {
  const document = await ask(context, (asked) => asked.rules());
  return printResult(context, document, () => ruleLines(document, context));
}

/** `coppice approvals rules remove ID` */
export async function rulesRemove(context: Context, id: string): Promise<number> {
  const removed = await ask(context, (asked) => asked.removeRule(id));
  return printResult(context, removed, () => [
    `removed ${clean(removed.rule)}: calls that only it allowed ask again`,
  ]);
}

function ruleLines({ rules, file }: Rules, { out: style, hint }: Context): string[] {
  const now = Date.now();
  if (rules.length === 0) return ['nothing was granted'];
  const short = shortIds(rules.map(({ id }) => id));
  const dot = ` ${sign(style, '·')} `;
  const rows = rules.flatMap((one) => {
    const since = duration(now - Date.parse(one.granted_at));
    const facts = [
      grantReach(one.scope, one.agent_name, one.root_id),
      `in ${clean(one.folder)}`,
      `by ${clean(one.granted_by)}, ${since} ago`,
      ...ruleNotice(one.rule).map(clean),
    ];
    return [
      `${paint(style, 'bold', short.get(one.id) ?? one.id)}  ${clean(one.rule)}`,
      paint(style, 'dim', `    ${facts.join(dot)}`),
    ];
  });
  const kept = rules.some(({ scope }) => scope === 'always')
    ? [`granted for good: kept in ${clean(file)}`]
    : [];
  return [...rows, '', ...kept, hint('take back: coppice approvals rules remove ID')];
}
