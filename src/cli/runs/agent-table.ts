import type { Agent } from '../../records/agent/agent.ts';
import { ledStatus } from '../../render/agent-status.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, type Style, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';

const HEAD = ['ID', 'NAME', 'STATUS', 'PARENT', 'CALLS', 'TOKENS', 'AGE', 'TASK, DOING'] as const;
const RIGHT = new Set([4, 5, 6]);

/** What is known of trees, by the ids of their roots. */
export interface KnownTrees {
  /** Those that nobody leads. */
  readonly unled: ReadonlyMap<string, unknown>;
  readonly titles: ReadonlyMap<string, string>;
}

/** `coppice ps`: a row per agent, ids as short as they stay distinct; a root's row tells what its tree is called. */
export function agentTable(
  agents: readonly Agent[],
  { unled, titles }: KnownTrees,
  width: number,
  now: number,
  style: Style,
): string[] {
  const short = shortIds(agents.map((agent) => agent.id));
  const names = new Map(agents.map((agent) => [agent.id, clean(agent.name)]));
  const rows = agents.map((agent) => [
    short.get(agent.id) ?? agent.id,
    fit(clean(agent.name), 24, style),
    stateMark(ledStatus(agent, unled.has(agent.root_id)), style),
    agent.parent_id === null
      ? sign(style, '–')
      : fit(names.get(agent.parent_id) ?? agent.parent_id.slice(0, 8), 16, style),
    String(agent.calls),
    count(agent.usage.input + agent.usage.output),
    duration(now - agent.created_at),
    [titles.get(agent.id) ?? [], agent.doing === null ? [] : clean(agent.doing)]
      .flat()
      .join(` ${sign(style, '·')} `) || sign(style, '–'),
  ]);
  return tableLines(HEAD, rows, { width, right: RIGHT, style });
}
