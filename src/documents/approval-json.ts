import type { Ask } from '../records/conversation/ask.ts';
import { shownDigest } from '../store/approvals/shown-digest.ts';
import type { Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { DocumentOf } from './shapes/all-documents.ts';
import type { ApprovalDocument } from './shapes/document-parts.ts';

export function askJson(ask: Ask): ApprovalDocument {
  const { call_id: _, answered_by: __, answered_at: ___, revoked_at: ____, asked_at, ...rest } = ask;
  return { ...rest, asked_at: isoTime(asked_at), shown: shownDigest(ask) };
}

/** One approval in `coppice/approvals/v1`. */
export type ListedApproval = DocumentOf<'coppice/approvals/v1'>['approvals'][number];

/** `approvals` of `coppice/approvals/v1`. */
export async function approvalsJson(store: Store, asks: readonly Ask[]): Promise<ListedApproval[]> {
  if (asks.length === 0) return [];
  // Imported on first use: the first needs a parser for commands.
  const { proposeRules } = await import('../permissions/grants/propose-rules.ts');
  const { shortAskId } = await import('../store/approvals/find-ask.ts');
  return Promise.all(
    asks.map(async (ask) => {
      const { rules, first } = ask.verdict === null ? proposeRules(ask) : { rules: [], first: 0 };
      const [lineage, short_id] = [await lineageOf(ask, store), await shortAskId(store, ask)];
      return { ...askJson(ask), short_id, offered_rule: rules[first] ?? null, rules, lineage };
    }),
  );
}

async function lineageOf(ask: Ask, store: Store): Promise<string[]> {
  const names = [ask.agent_name];
  let above = (await store.agent(ask.agent_id))?.parent_id ?? null;
  while (above !== null) {
    const agent = await store.agent(above);
    if (agent === null) break;
    names.unshift(agent.name);
    above = agent.parent_id;
  }
  return names;
}
