import type { Ask } from '../../records/conversation/ask.ts';
import { shortIds } from '../../render/short-ids.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { askJson } from './ask-json.ts';
import { askLines } from './ask-lines.ts';

const HOW = `allow: coppice approvals allow ID            (--agent: and all later ones of this tool by this agent)
deny:  coppice approvals deny ID --say TEXT  (the model reads the text)
`;

/** `coppice approvals list`: calls that wait for a person, of every tree, oldest first. */
export function approvalsList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const asks = await store.asks({ open: true });
    if (context.json) {
      printJson({ schema: 'coppice/approvals/v1', approvals: asks.map(askJson) });
      return 0;
    }
    if (asks.length === 0) {
      process.stdout.write('nothing waits for approval\n');
      return 0;
    }
    const short = shortIds(asks.map((ask) => ask.id));
    const now = Date.now();
    for (const ask of asks) {
      const look = { id: short.get(ask.id) ?? ask.id, lineage: await lineageOf(ask, store), now };
      process.stdout.write(`${askLines(ask, { ...look, style: context.out }).join('\n')}\n\n`);
    }
    process.stdout.write(HOW);
    return 0;
  });
}

async function lineageOf(ask: Ask, store: Store): Promise<string[]> {
  const names = [ask.agent_name];
  let above = (await store.agent(ask.agent_id))?.parent_id ?? null;
  while (above !== null) {
    const agent = await store.agent(above);
    if (agent === null) break;
    names.unshift(agent.name);
    above = agent.parent_id;
  }
  return names;
}
