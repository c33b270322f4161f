import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { layOut } from '../../render/lay-out.ts';
import { shortIds } from '../../render/short-ids.ts';
import { printJson } from '../agent-json.ts';
import { askJson } from '../ask-json.ts';
import { type Context, withStore } from '../context.ts';

const HEAD = ['ID', 'AGENT', 'TOOL', 'WAITS', 'WHAT'] as const;

/** `coppice approvals list`: calls that wait for a person, of every tree. */
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
    const rows = asks.map((ask) => [
      short.get(ask.id) ?? ask.id,
      clean(ask.agent_name),
      ask.tool,
      duration(now - ask.asked_at),
      clean(ask.subject),
    ]);
    const look = { width: context.width, right: new Set([3]), style: context.out };
    process.stdout.write(`${layOut(HEAD, rows, look).join('\n')}\n`);
    process.stdout.write('answer with: coppice approvals allow ID · coppice approvals deny ID\n');
    return 0;
  });
}
