import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { grantedRules, removeGrantedRule } from '../../store/approvals/granted-rules.ts';
import type { Store } from '../../store/store.ts';

/** Sources of the documents about rules. */
export interface RuleSources {
  readonly store: Store;
  /** File with the rules that are granted permanently. */
  readonly rules_file: string;
}

export async function rulesDocument({
  store,
  rules_file,
}: RuleSources): Promise<DocumentOf<'coppice/rules/v1'>> {
  const rules = await grantedRules(store, rules_file);
  return { schema: 'coppice/rules/v1', file: rules_file, rules: [...rules] };
}

export async function removedRuleDocument(
  { store, rules_file }: RuleSources,
  text: string,
): Promise<DocumentOf<'coppice/rule/v1'>> {
  return { schema: 'coppice/rule/v1', ...(await removeGrantedRule(store, rules_file, text)) };
}
