import { readRules } from '../../permissions/grants/rules-file.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Ask, AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Store } from '../store.ts';
import { revokeRule } from './answer-approval.ts';

/** A rule that a person granted and that still holds. */
export interface GrantedRule {
  /** Id of the question whose answer granted the rule. */
  readonly id: string;
  readonly rule: string;
  readonly scope: Exclude<AskScope, 'once'>;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  /** The tree for which the rule holds; null: every tree in the folder. */
  readonly root_id: string | null;
  readonly folder: string;
  readonly asked_by: string;
  readonly granted_by: string;
  /** ISO time. */
  readonly granted_at: string;
}

/** Returns the granted rules that still hold: those in the ledger, oldest first, then those in the rules file. */
export async function grantedRules(store: Store, rules_file: string): Promise<readonly GrantedRule[]> {
  const granted = await Promise.all((await store.grants({})).map((ask) => heldRule(store, ask)));
  const everybody = { scope: 'always', agent_id: null, agent_name: null, root_id: null } as const;
  const kept = readRules(rules_file).map(({ id, rule, folder, asked_by, granted_by, granted_at }) => ({
    ...{ id, rule, ...everybody, folder },
    ...{ asked_by, granted_by, granted_at },
  }));
  return [...granted.flat(), ...kept];
}

/** Returns the rule, or nothing once the turn, agent or tree for which it held has ended. */
async function heldRule(store: Store, ask: Ask): Promise<readonly GrantedRule[]> {
  const { id, scope, agent_id, agent_name, root_id } = ask;
  if (scope === null || scope === 'once' || scope === 'always') return [];
  const holder = await store.agent(scope === 'session' ? root_id : agent_id);
  if (holder === null || isTerminal(holder.state.type)) return [];
  const in_turn = 'turn' in holder.state && holder.state.turn.granted?.includes(id) === true;
  if (scope === 'turn' && !in_turn) return [];
  const whose = scope === 'session' ? { agent_id: null, agent_name: null } : { agent_id, agent_name };
  const granted_at = new Date(ask.answered_at ?? ask.asked_at).toISOString();
  const granted_by = ask.answered_by ?? 'you';
  const rule = ask.granted ?? ask.tool;
  return [
    { id, rule, scope, ...whose, root_id, folder: ask.cwd, asked_by: ask.rule, granted_by, granted_at },
  ];
}

/** Revokes the rule with this id or unique prefix of an id. Rejects with `E_RULE_NOT_FOUND`, and with `E_CONFIG` when the rules file cannot be changed. */
export async function removeGrantedRule(
  store: Store,
  rules_file: string,
  text: string,
): Promise<GrantedRule> {
  const found = (await grantedRules(store, rules_file)).filter(({ id }) => id.startsWith(text.toLowerCase()));
  const [only] = found;
  if (only === undefined || found.length > 1) {
    const what = found.length > 1 ? `"${text}" matches ${found.length} rules` : `no granted rule "${text}"`;
    throw new CoppiceError('E_RULE_NOT_FOUND', what, { hint: 'See: coppice approvals rules list' });
  }
  await revokeRule(store, only.id, await store.now(), { rules_file });
  return only;
}
