import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { descendantsOf } from '../../records/agent/agent.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { Store } from '../../store/store.ts';
import { difference } from '../../tools/files/difference.ts';
import { oneAgent } from '../find-agent.ts';
import { type Compared, compareTrees, firstOf, type Played } from './compare.ts';

type DiffDocument = DocumentOf<'coppice/diff/v1'>;

/** Agents whose conversations are read at once. */
const AGENTS_AT_ONCE = 100;
const DIFF_MAX = 20_000;

/** Compares two trees, or two agents with all below them: the first difference, then agent by agent. */
export async function diffDocument(store: Store, a: string, b: string): Promise<DiffDocument> {
  const [one, other] = [await playedBelow(store, a), await playedBelow(store, b)];
  const compared = compareTrees(one, other);
  const first = firstOf(compared);
  return {
    ...{ schema: 'coppice/diff/v1', a: compared[0]?.a?.agent_id ?? a, b: compared[0]?.b?.agent_id ?? b },
    same: first === undefined,
    first: first === undefined ? null : firstJson(first),
    agents: compared.map(({ message: _, ...row }) => row),
  };
}

async function playedBelow(store: Store, text: string): Promise<Played[]> {
  const agent = await oneAgent(store, text);
  const tree = (await store.agents({ root_id: agent.root_id })).toReversed();
  const all = [agent, ...descendantsOf(agent.id, tree)];
  const played: Played[] = [];
  for (let at = 0; at < all.length; at += AGENTS_AT_ONCE) {
    const some = all.slice(at, at + AGENTS_AT_ONCE);
    const found = await store.conversations(some.map(({ id }) => id));
    for (const one of some) {
      const messages = found.get(one.id)?.messages.filter(({ agent_id }) => agent_id === one.id) ?? [];
      played.push({ agent: one, messages });
    }
  }
  return played;
}

function firstJson({ path, a, b, differs, message }: Compared): DiffDocument['first'] {
  const texts =
    message === null
      ? [a, b].map((side) => JSON.stringify(side, null, 1))
      : [message.a?.text, message.b?.text];
  const lines = difference(path, `${texts[0] ?? ''}\n`, `${texts[1] ?? ''}\n`);
  return {
    ...{ path, what: message?.a?.what ?? message?.b?.what ?? differs[0] ?? '' },
    ...{ a_seq: message?.a?.seq ?? null, b_seq: message?.b?.seq ?? null },
    diff: lines === null ? null : cutText(lines.slice(Math.max(0, lines.indexOf('@@'))), DIFF_MAX, '…\n'),
  };
}
