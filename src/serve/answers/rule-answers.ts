import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { readRules } from '../../permissions/grants/rules-file.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { revokeRule } from '../../store/answer-approval.ts';
import type { Store } from '../../store/store.ts';

/** What the answers are made from. */
export interface RuleSources {
  readonly store: Store;
  /** Where rules that are granted for good are kept. */
  readonly rules_file: string;
}

type RuleRow = DocumentOf<'coppice/rules/v1'>['rules'][number];

/** The rules that people granted: those of the ledger that still hold, then those of the rules file. */
export async function rulesDocument({
  store,
  rules_file,
}: RuleSources): Promise<DocumentOf<'coppice/rules/v1'>> {
  const granted = await Promise.all((await store.grants({})).map((ask) => ruleRow(store, ask)));
  const kept = readRules(rules_file).map((rule): RuleRow => {
    const { id, folder, asked_by, granted_by, granted_at } = rule;
    const everybody = { agent_id: null, agent_name: null, root_id: null };
    return { id, rule: rule.rule, scope: 'always', ...everybody, folder, asked_by, granted_by, granted_at };
  });
  return { schema: 'coppice/rules/v1', file: rules_file, rules: [...granted.flat(), ...kept] };
}

/** Nothing once the turn, the agent or the tree has ended. */
async function ruleRow(store: Store, ask: Ask): Promise<readonly RuleRow[]> {
  const { id, scope, agent_id, agent_name, root_id } = ask;
  if (scope === null || scope === 'once' || scope === 'always') return [];
  const holder = await store.agent(scope === 'session' ? root_id : agent_id);
  if (holder === null || isTerminal(holder.state.type)) return [];
  const in_turn = 'turn' in holder.state && holder.state.turn.granted?.includes(id) === true;
  if (scope === 'turn' && !in_turn) return [];
  const whose = scope === 'session' ? { agent_id: null, agent_name: null } : { agent_id, agent_name };
  const rule = ask.granted ?? ask.tool;
  const by = { granted_by: ask.answered_by ?? 'you', granted_at: isoTime(ask.answered_at ?? ask.asked_at) };
  return [{ id, rule, scope, ...whose, root_id, folder: ask.cwd, asked_by: ask.rule, ...by }];
}

/** Takes back the rule that an id or a unique prefix means. */
export async function removedRuleDocument(
  sources: RuleSources,
  text: string,
): Promise<DocumentOf<'coppice/rule/v1'>> {
  const { rules } = await rulesDocument(sources);
  const found = rules.filter(({ id }) => id.startsWith(text.toLowerCase()));
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const what = found.length > 1 ? `"${text}" matches ${found.length} rules` : `no granted rule "${text}"`;
    throw new CoppiceError('E_RULE_NOT_FOUND', what, { hint: 'See: coppice approvals rules list' });
  }
  await revokeRule(sources.store, only.id, await sources.store.now(), sources);
  return { schema: 'coppice/rule/v1', ...only };
}
