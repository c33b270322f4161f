import { clean } from '../../render/clean.ts';
import { grantReach } from '../../render/grant-reach.ts';
import { shortIds } from '../../render/short-ids.ts';
import { grantedRules, removeGrantedRule } from '../../store/approvals/granted-rules.ts';
import type { AppContext } from '../app-context.ts';
import { separator } from '../text/line.ts';

/** `/rules`: lists the rules that were granted in answers, in this tree and others. */
export async function showRules(app: AppContext): Promise<void> {
  const { rules_file } = app.options;
  const rules = await grantedRules(app.store, rules_file);
  if (rules.length === 0) return app.say('nothing was granted');
  const short = shortIds(rules.map(({ id }) => id));
  for (const { id, rule, scope, agent_name, root_id, folder } of rules) {
    const where = `${grantReach(scope, agent_name, root_id)}${separator(app.style)}in ${clean(folder)}`;
    app.say(`${short.get(id) ?? id}  ${clean(rule)}${separator(app.style)}${where}`);
  }
  const kept = rules.some(({ scope }) => scope === 'always') ? `; for good: kept in ${rules_file}` : '';
  app.say(`/rules remove ID takes one back${kept}`);
}

/** `/rules remove ID`: takes a granted rule back. */
export async function removeRule(app: AppContext, id: string): Promise<void> {
  const { rule } = await removeGrantedRule(app.store, app.options.rules_file, id);
  app.say(`removed ${clean(rule)}: such calls ask again`, 'good');
}
