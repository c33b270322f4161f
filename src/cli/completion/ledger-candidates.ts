import type { Agent } from '../../core/agent.ts';
import { statusWord } from '../../render/agent-status.ts';
import { LedgerGlance } from '../../store/sqlite/ledger-glance.ts';
import type { Candidate } from './candidate.ts';
import type { WordKind } from './word-kind.ts';

/** What of the ledger file may stand where `typed` stands. Throws when it cannot be read. */
export function ledgerCandidates(path: string, kind: WordKind, typed: string, limit: number): Candidate[] {
  const find = FINDERS[kind];
  if (find === undefined) return [];
  const glance = new LedgerGlance(path);
  try {
    return find(glance, typed, limit);
  } finally {
    glance.close();
  }
}

type Find = (glance: LedgerGlance, prefix: string, limit: number) => Candidate[];

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
  return (glance, prefix, limit) => {
    const found = glance.agents({ prefix, open, limit });
    return found.map((agent) => {
      // Who begins with a name means the name, as long as it is that of one agent.
      const by_name =
        !agent.id.startsWith(prefix) && found.filter(({ name }) => name === agent.name).length === 1;
      return by_name
        ? { value: agent.name, description: `${statusWord(agent)}${doing(agent)} (${agent.id.slice(0, 8)})` }
        : { value: agent.id, description: `${agent.name}, ${statusWord(agent)}${doing(agent)}` };
    });
  };
}

function doing({ doing }: Agent): string {
  return doing === null || doing === '' ? '' : `: ${doing}`;
}

function runs(open: boolean): Find {
  return (glance, prefix, limit) =>
    glance
      .runs({ prefix, open, limit })
      .map(({ id, label, task, status }) => ({ value: id, description: `${label ?? task}, ${status}` }));
}
