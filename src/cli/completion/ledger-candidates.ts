import type { Agent } from '../../records/agent/agent.ts';
import { statusWord } from '../../render/agent-status.ts';
import { treeTitle } from '../../render/tree-title.ts';
import type { ReadOnlyLedger } from '../../store/open-store.ts';
import type { WordKind } from './command-shape.ts';
import type { Candidate } from './walk-words.ts';

/** What of the ledger may stand where `typed` stands; `folder`: where names mean the agents of its newest tree. Throws when it cannot be read. */
export function ledgerCandidates(
  glance: ReadOnlyLedger,
  kind: WordKind,
  typed: string,
  limit: number,
  folder: string,
): Candidate[] {
  return FINDERS[kind]?.(glance, typed, limit, folder) ?? [];
}

type Find = (glance: ReadOnlyLedger, prefix: string, limit: number, folder: string) => Candidate[];

const FINDERS: Partial<Record<WordKind, Find>> = {
  agent: agents(false),
  'living-agent': agents(true),
  run: runs(false),
  'active-run': runs(true),
  job: (glance, prefix, limit) =>
    glance.jobs({ prefix, limit }).map(({ name, task }) => ({ value: name, description: task })),
  delivery: (glance, prefix, limit) =>
    glance
      .deliveries({ prefix, limit })
      .map(({ id, target, status }) => ({ value: id, description: `${target}, ${status}` })),
  approval: (glance, prefix, limit) =>
    glance.asks({ prefix, open: true, limit }).map(({ id, agent_name, tool, subject }) => ({
      value: id,
      description: `${agent_name}: ${tool} ${subject}`,
    })),
};

function agents(open: boolean): Find {
  return (glance, prefix, limit, folder) => {
    const found = glance.agents({ prefix, open, limit });
    const here = glance.newestRoot(folder);
    return found.map((agent) => {
      // Who begins with a name means the name, as long as it is that of one agent.
      const same = found.filter(({ name }) => name === agent.name);
      const near = same.filter(({ root_id }) => root_id === here);
      const by_name =
        !agent.id.startsWith(prefix) &&
        (near.length > 0 ? near.length === 1 && near[0] === agent : same.length === 1);
      return by_name
        ? {
            value: agent.name,
            description: `${statusWord(agent)}${told(glance, agent)} (${agent.id.slice(0, 8)})`,
          }
        : { value: agent.id, description: `${agent.name}, ${statusWord(agent)}${told(glance, agent)}` };
    });
  };
}

/** What it does; of a root, what its tree is called. */
function told(glance: ReadOnlyLedger, { id, parent_id, doing }: Agent): string {
  const title = parent_id === null ? treeTitle(glance.first(id)) : null;
  const text = title ?? doing ?? '';
  return text === '' ? '' : `: ${text}`;
}

function runs(open: boolean): Find {
  return (glance, prefix, limit) =>
    glance
      .runs({ prefix, open, limit })
      .map(({ id, label, task, status }) => ({ value: id, description: `${label ?? task}, ${status}` }));
}
