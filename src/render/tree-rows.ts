import { keptIn } from '../records/kept-in.ts';
import type { Style } from './style.ts';

export interface TreeRow<A> {
  readonly agent: A;
  /** Branch lines before its name. */
  readonly stem: string;
}

/** Parents before children, siblings oldest first; a change of status never moves a row. */
export function treeRows<A extends { readonly id: string; readonly parent_id: string | null }>(
  agents: readonly A[],
  style: Style,
  createdAt: (agent: A) => number,
): TreeRow<A>[] {
  const known = new Set(agents.map((agent) => agent.id));
  const children = new Map<string | null, A[]>();
  for (const agent of [...agents].sort((a, b) => createdAt(a) - createdAt(b))) {
    const parent = agent.parent_id !== null && known.has(agent.parent_id) ? agent.parent_id : null;
    keptIn(children, parent, () => []).push(agent);
  }
  const rows: TreeRow<A>[] = [];
  const glyphs = style.unicode ? { mid: '├ ', last: '└ ', bar: '│ ' } : { mid: '|-', last: '`-', bar: '| ' };
  const visit = (agent: A, stem: string, below: string): void => {
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
