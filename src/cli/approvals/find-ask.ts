import type { Ask } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Store } from '../../store/store.ts';

/** The one question that an id or a unique prefix of one means. */
export async function findAsk(store: Store, text: string): Promise<Ask> {
  const found = await store.findAsks(text);
  const open = found.filter((ask) => ask.verdict === null);
  const [only] = open.length > 0 ? open : found;
  if (only !== undefined && (open.length === 1 || found.length === 1)) return only;
  if (only === undefined)
    throw new CoppiceError('E_ASK_NOT_FOUND', `no approval "${text}"`, {
      hint: 'See: coppice approvals list',
    });
  const list = open.map((ask) => `${ask.id} (${ask.agent_name}: ${ask.tool} ${ask.subject.slice(0, 60)})`);
  throw new CoppiceError('E_ASK_NOT_FOUND', `"${text}" matches ${open.length} approvals`, {
    hint: `${list.join('\n')}\nUse a longer id.`,
  });
}
