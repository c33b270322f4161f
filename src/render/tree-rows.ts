import type { Agent } from '../records/agent/agent.ts';
import type { Style } from './style.ts';

export interface TreeRow {
  readonly agent: Agent;
  /** Branch lines before its name. */
  readonly stem: string;
}

/** Parents before children, siblings oldest first; a change of status never moves a row. */
export function treeRows(agents: readonly Agent[], style: Style): TreeRow[] {
  const known = new Set(agents.map((agent) => agent.id));
  const children = new Map<string | null, Agent[]>();
  for (const agent of [...agents].sort((a, b) => a.created_at - b.created_at)) {
    const parent = agent.parent_id !== null && known.has(agent.parent_id) ? agent.parent_id : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [agent]);
    else siblings.push(agent);
  }
  const rows: TreeRow[] = [];
  const glyphs = style.unicode ? { mid: '├ ', last: '└ ', bar: '│ ' } : { mid: '|-', last: '`-', bar: '| ' };
  const visit = (agent: Agent, stem: string, below: string): void => {
    rows.push({ agent, stem });
    const list = children.get(agent.id) ?? [];
    list.forEach((child, index) => {
      const last = index === list.length - 1;
      visit(child, below + (last ? glyphs.last : glyphs.mid), below + (last ? '  ' : glyphs.bar));
    });
  };
  for (const root of children.get(null) ?? []) visit(root, '', '');
  return rows;
}
