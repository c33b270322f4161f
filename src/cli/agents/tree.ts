import { agentJson } from '../../documents/agent-json.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { agentTree, lastMoment } from '../../render/agent-tree.ts';
import { paint } from '../../render/style.ts';
import { deletedUse, summary } from '../../render/tree-summary.ts';
import { unledText, unledTrees } from '../../serve/leading/unled.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { findRoot } from './find-agent.ts';

/** `coppice tree [ID]`: a whole tree; by default the newest one. */
export function tree(context: Context, text: string | undefined): Promise<number> {
  return withStore(context, async (store) => {
    const root = await findRoot(context, store, text);
    const agents = (await store.agents({ root_id: root.id })).toReversed();
    const unled = (await unledTrees(context, store, agents)).get(root.id) ?? null;
    const title = await titleOf(store, root);
    const counters = await store.tree(root.id);
    if (context.json) {
      printJson({
        schema: 'coppice/tree/v1',
        root_id: root.id,
        title,
        tree: counters,
        agents: agents.map((agent) => agentJson(agent, [], unled)),
      });
      return 0;
    }
    const now = Date.now();
    const lines = agentTree(
      agents,
      { width: context.width, height: Number.POSITIVE_INFINITY },
      now,
      context.out,
      unled !== null,
    );
    const footer = summary(
      agents,
      root.created_at,
      Math.max(...agents.map((agent) => lastMoment(agent, now))),
      {
        deleted: deletedUse(counters, agents),
        led: unled === null,
      },
    );
    process.stdout.write(
      `${paint(context.out, 'bold', `${root.id.slice(0, 8)}  ${title}`)}\n${lines.join('\n')}\n${footer}\n`,
    );
    if (unled !== null) process.stdout.write(`${unledText(unled)}\n`);
    return 0;
  });
}
