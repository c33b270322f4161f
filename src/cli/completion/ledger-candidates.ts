import type { Agent } from '../../records/agent/agent.ts';
import { statusWord } from '../../render/agent-status.ts';
import { treeTitle } from '../../render/tree-title.ts';
import type { ReadOnlyLedger } from '../../store/open-store.ts';
import type { Candidate } from './parse-words.ts';
import type { WordKind } from './word-kind.ts';

/** Returns candidates that start with `typed`. A name refers first to the agent in the newest tree of `folder`. Throws when the ledger cannot be read. */
export function ledgerCandidates(
  ledger: ReadOnlyLedger,
  kind: WordKind,
  typed: string,
  limit: number,
  folder: string,
): Candidate[] {
  return FINDERS[kind]?.(ledger, typed, limit, folder) ?? [];
}

type Find = (ledger: ReadOnlyLedger, prefix: string, limit: number, folder: string) => Candidate[];

const FINDERS: Partial<Record<WordKind, Find>> = {
  agent: agents(false),
  'living-agent': agents(true),
  run: runs(false),
  'active-run': runs(true),
  job: (ledger, prefix, limit) =>
    ledger.jobs({ prefix, limit }).map(({ name, task }) => ({ value: name, description: task })),
  delivery: (ledger, prefix, limit) =>
    ledger
      .deliveries({ prefix, limit })
      .map(({ id, target, status }) => ({ value: id, description: `${target}, ${status}` })),
  approval: (ledger, prefix, limit) =>
    ledger.asks({ prefix, open: true, limit }).map(({ id, agent_name, tool, subject }) => ({
      value: id,
      description: `${agent_name}: ${tool} ${subject}`,
    })),
  'granted-rule': (ledger, prefix, limit) =>
    ledger
      .asks({ prefix, open: false, limit })
      .filter(
        ({ verdict, scope, revoked_at }) => verdict === 'allow' && scope !== 'once' && revoked_at === null,
      )
      .map(({ id, tool, granted, scope }) => ({ value: id, description: `${granted ?? tool}, ${scope}` })),
};

function agents(open: boolean): Find {
  return (ledger, prefix, limit, folder) => {
    const found = ledger.agents({ prefix, open, limit });
    const here = ledger.newestRoot(folder);
    return found.map((agent) => {
      // Completes to the name rather than the id if the prefix does not match the id and the name refers to one agent only.
      const same = found.filter(({ name }) => name === agent.name);
      const near = same.filter(({ root_id }) => root_id === here);
      const by_name =
        !agent.id.startsWith(prefix) &&
        (near.length > 0 ? near.length === 1 && near[0] === agent : same.length === 1);
      return by_name
        ? {
            value: agent.name,
            description: `${statusWord(agent)}${doingText(ledger, agent)} (${agent.id.slice(0, 8)})`,
          }
        : { value: agent.id, description: `${agent.name}, ${statusWord(agent)}${doingText(ledger, agent)}` };
    });
  };
}

/** Activity of the agent; for a root, the title of its tree. */
function doingText(ledger: ReadOnlyLedger, { id, parent_id, doing }: Agent): string {
  const title = parent_id === null ? treeTitle(ledger.first(id)) : null;
  const text = title ?? doing ?? '';
  return text === '' ? '' : `: ${text}`;
}

function runs(open: boolean): Find {
  return (ledger, prefix, limit) =>
    ledger
      .runs({ prefix, open, limit })
      .map(({ id, label, task, status }) => ({ value: id, description: `${label ?? task}, ${status}` }));
}
