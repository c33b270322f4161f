import stringWidth from 'string-width';
import type { Agent } from '../../core/agent.ts';
import { isTerminal, isWorking } from '../../core/state.ts';
import { status } from './agent-status.ts';
import { count, duration } from './amounts.ts';
import { clean } from './clean.ts';
import { fit, pad, paint, type Style } from './style.ts';

export interface TreeSize {
  readonly width: number;
  /** Rows at most; what does not fit is counted in the last one. */
  readonly height: number;
}

interface Row {
  readonly agent: Agent;
  readonly stem: string;
}

const NAME_MAX = 34;

/** A tree of agents, one line each, in order of birth; pure, so that every terminal shows the same. */
export function agentTree(agents: readonly Agent[], size: TreeSize, now: number, style: Style): string[] {
  const rows = order(agents, style);
  const shown = rows.length <= size.height ? rows : rows.slice(0, Math.max(0, size.height - 1));
  const name_width = Math.min(
    NAME_MAX,
    Math.max(8, ...shown.map((row) => stringWidth(row.stem) + stringWidth(clean(row.agent.name)))),
  );
  const lines = shown.map((row) => line(row, name_width, size.width, now, style));
  if (shown.length < rows.length) {
    const hidden = rows.slice(shown.length);
    const working = hidden.filter(({ agent }) => isWorking(agent.state.type)).length;
    lines.push(fit(`  +${hidden.length} more${working > 0 ? `, ${working} at work` : ''}`, size.width));
  }
  return lines;
}

function line({ agent, stem }: Row, name_width: number, width: number, now: number, style: Style): string {
  const name = pad(fit(`${stem}${clean(agent.name)}`, name_width), name_width);
  const tokens = agent.usage.input + agent.usage.output;
  const from = agent.created_at;
  const until = isWorking(agent.state.type) ? now : (agent.ended_at ?? agent.updated_at);
  const figures = `${pad(String(agent.calls), 4, 'left')} calls ${pad(count(tokens), 5, 'left')} tok ${pad(duration(until - from), 6, 'left')}`;
  const head = `${name}  ${pad(status(agent, style), 9)}`;
  const rest = width - stringWidth(head) - stringWidth(figures) - 4;
  const doing = what(agent);
  if (rest < 0) return fit(head, width);
  return `${head}  ${figures}${doing === '' || rest < 4 ? '' : `  ${paint(style, 'dim', fit(doing, rest))}`}`;
}

/** What it does; for one that rests, what it had to say. */
function what(agent: Agent): string {
  if (agent.state.type === 'killed') return `killed by ${clean(agent.state.by)}`;
  if (agent.state.type === 'failed') return clean(agent.state.failure.error);
  if (agent.doing !== null) return clean(agent.doing);
  return agent.reply === null || isTerminal(agent.state.type) ? '' : `"${clean(agent.reply)}"`;
}

/** Parents before children, siblings by birth; a change of status never moves a row. */
function order(agents: readonly Agent[], style: Style): Row[] {
  const known = new Set(agents.map((agent) => agent.id));
  const children = new Map<string | null, Agent[]>();
  for (const agent of [...agents].sort((a, b) => a.created_at - b.created_at)) {
    const parent = agent.parent_id !== null && known.has(agent.parent_id) ? agent.parent_id : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [agent]);
    else siblings.push(agent);
  }
  const rows: Row[] = [];
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
