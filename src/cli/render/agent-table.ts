import stringWidth from 'string-width';
import type { Agent } from '../../core/agent.ts';
import { status } from './agent-status.ts';
import { count, duration } from './amounts.ts';
import { clean } from './clean.ts';
import { fit, pad, type Style, sign } from './style.ts';

const HEAD = ['ID', 'NAME', 'STATUS', 'PARENT', 'CALLS', 'TOKENS', 'AGE', 'DOING'] as const;
const RIGHT = new Set([4, 5, 6]);

/** `coppice ps`: a row per agent, ids as short as they stay distinct. */
export function agentTable(agents: readonly Agent[], width: number, now: number, style: Style): string[] {
  const short = shortIds(agents.map((agent) => agent.id));
  const names = new Map(agents.map((agent) => [agent.id, clean(agent.name)]));
  const rows = agents.map((agent) => [
    short.get(agent.id) ?? agent.id,
    fit(clean(agent.name), 24, style),
    status(agent, style),
    agent.parent_id === null
      ? sign(style, '–')
      : fit(names.get(agent.parent_id) ?? agent.parent_id.slice(0, 8), 16, style),
    String(agent.calls),
    count(agent.usage.input + agent.usage.output),
    duration(now - agent.created_at),
    agent.doing === null ? sign(style, '–') : clean(agent.doing),
  ]);
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => stringWidth(row[column] ?? ''))),
  );
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const lay = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === HEAD.length - 1
          ? fit(cell, Math.max(8, width - before), style)
          : pad(cell, widths[column] ?? 0, RIGHT.has(column) ? 'left' : 'right'),
      )
      .join('  ')
      .trimEnd();
  return [lay(HEAD), ...rows.map(lay)];
}

/** Prefixes of at least four characters that tell these ids apart. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const short = new Map<string, string>();
  const sorted = [...ids].sort();
  const common = (a: string, b: string): number => {
    let length = 0;
    while (length < a.length && a[length] === b[length]) length += 1;
    return length;
  };
  sorted.forEach((id, index) => {
    const before = index === 0 ? 0 : common(id, sorted[index - 1] as string);
    const after = index === sorted.length - 1 ? 0 : common(id, sorted[index + 1] as string);
    short.set(id, id.slice(0, Math.max(4, before + 1, after + 1)));
  });
  return short;
}
