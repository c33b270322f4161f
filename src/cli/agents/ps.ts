import { agentJson } from '../../documents/agent-json.ts';
import { titlesOf } from '../../documents/tree-titles.ts';
import { type Agent, isUserInitiated } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { ledStatus } from '../../render/agent-status.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { unledText, unledTrees } from '../../serve/leading/unled.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';
import { findRoot } from './find-agent.ts';

const HEAD = ['ID', 'NAME', 'STATUS', 'PARENT', 'CALLS', 'TOKENS', 'AGE', 'TASK, DOING'] as const;
const RIGHT = new Set([4, 5, 6]);
const RECENT = 200;
/** Further unled trees are only counted. */
const UNLED_SHOWN = 3;

/** `coppice ps`: living agents of the newest trees; `--all` includes ended ones and sub-agents of tasks. */
export function ps(
  context: Context,
  options: { readonly all?: boolean; readonly tree?: string },
): Promise<number> {
  return withStore(context, async (store) => {
    const root_id =
      options.tree === undefined ? undefined : (await findRoot(context, store, options.tree)).id;
    const filter = root_id === undefined ? { limit: RECENT } : { root_id };
    const found = await store.agents(options.all ? filter : { ...filter, living: true });
    const agents = found
      .filter((agent) => options.all === true || isUserInitiated(agent) || agent.parent_id === null)
      .toReversed();
    const others = found.length - agents.length;
    const asks = await store.asks(root_id === undefined ? { open: true } : { root_id, open: true });
    const unled = await unledTrees(context, store, found);
    const titles = await titlesOf(
      store,
      agents.filter((agent) => agent.parent_id === null),
    );
    if (context.json) {
      printJson({
        schema: 'coppice/agents/v1',
        agents: agents.map((agent) => agentJson(agent, asks, unled.get(agent.root_id), titles.get(agent.id))),
      });
      return 0;
    }
    if (agents.length === 0) {
      printLines([
        options.all
          ? 'no agents yet: coppice run "…"'
          : `no living agents; ${hidden(others)}see all: coppice ps --all`,
      ]);
      return 0;
    }
    const living = agents.filter((agent) => !isTerminal(agent.state.type)).length;
    const more = found.length === RECENT ? ` (the newest ${RECENT})` : '';
    const unled_lines = [...unled]
      .toReversed()
      .map(([id, reason]) => `${id.slice(0, 8)}: ${unledText(reason)}`);
    const unled_more = unled_lines.length - UNLED_SHOWN;
    printLines([
      ...agentTable(context, agents, titles, new Set(unled.keys())),
      `${agents.length} agent${agents.length === 1 ? '' : 's'}${options.all ? `, ${living} living` : ''}${more}`,
      ...unled_lines.slice(0, UNLED_SHOWN),
      ...(unled_more > 0 ? [`and ${unled_more} more trees that nobody leads`] : []),
      ...(asks.length > 0
        ? [`${asks.length} approval${asks.length === 1 ? '' : 's'} waiting: coppice approvals list`]
        : []),
      ...(others > 0 ? [`and ${hidden(others)}see all: coppice ps --all`] : []),
    ]);
    return 0;
  });
}

function hidden(others: number): string {
  if (others === 0) return '';
  return others === 1 ? '1 sub-agent; ' : `${others} sub-agents; `;
}

/** The row of a root shows the title of its tree. `unled` holds roots. */
function agentTable(
  { width, out: style }: Context,
  agents: readonly Agent[],
  titles: ReadonlyMap<string, string>,
  unled: ReadonlySet<string>,
): string[] {
  const now = Date.now();
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
