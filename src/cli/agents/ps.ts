import { isUserInitiated } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { agentTable } from '../runs/agent-table.ts';
import { type Context, withStore } from '../setup/context.ts';
import { unledText, unledTrees } from '../worker/unled.ts';
import { agentJson, printJson } from './agent-json.ts';
import { findRoot } from './find-agent.ts';
import { titlesOf } from './title-of.ts';

const RECENT = 200;
/** So many trees that stand still are told of one by one. */
const UNLED_TOLD = 3;

/** `coppice ps`: living agents of the newest trees; `--all` shows dead ones and the sub-agents of tasks too. */
export function ps(
  context: Context,
  options: { readonly all?: boolean; readonly tree?: string },
): Promise<number> {
  return withStore(context, async (store) => {
    const root_id =
      options.tree === undefined ? undefined : (await findRoot(context, store, options.tree)).id;
    const filter = root_id === undefined ? { limit: RECENT } : { root_id };
    const all = await store.agents(options.all ? filter : { ...filter, living: true });
    const agents = all
      .filter((agent) => options.all === true || isUserInitiated(agent) || agent.parent_id === null)
      .toReversed();
    const others = all.length - agents.length;
    const asks = await store.asks(root_id === undefined ? { open: true } : { root_id, open: true });
    const unled = await unledTrees(context, store, all);
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
      process.stdout.write(
        options.all
          ? 'no agents yet: coppice run "…"\n'
          : `no living agents; ${hidden(others)}see all: coppice ps --all\n`,
      );
      return 0;
    }
    const living = agents.filter((agent) => !isTerminal(agent.state.type)).length;
    process.stdout.write(
      `${agentTable(agents, { unled, titles }, context.width, Date.now(), context.out).join('\n')}\n`,
    );
    const more = all.length === RECENT ? ` (the newest ${RECENT})` : '';
    process.stdout.write(
      `${agents.length} agent${agents.length === 1 ? '' : 's'}${options.all ? `, ${living} living` : ''}${more}\n`,
    );
    const still = [...unled].toReversed();
    for (const [id, one] of still.slice(0, UNLED_TOLD))
      process.stdout.write(`${id.slice(0, 8)}: ${unledText(one)}\n`);
    if (still.length > UNLED_TOLD)
      process.stdout.write(`and ${still.length - UNLED_TOLD} more trees that nobody leads\n`);
    if (asks.length > 0)
      process.stdout.write(
        `${asks.length} approval${asks.length === 1 ? '' : 's'} waiting: coppice approvals list\n`,
      );
    if (others > 0) process.stdout.write(`and ${hidden(others)}see all: coppice ps --all\n`);
    return 0;
  });
}

function hidden(others: number): string {
  if (others === 0) return '';
  return others === 1 ? '1 sub-agent; ' : `${others} sub-agents; `;
}
