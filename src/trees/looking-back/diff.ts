import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { Store } from '../../store/store.ts';
import { difference } from '../../tools/files/difference.ts';
import { oneAgent } from '../find-agent.ts';
import { type ComparedAgent, compareTrees, firstOf, type Played, type Side } from './compare.ts';

type DiffDocument = DocumentOf<'coppice/diff/v1'>;

/** Agents whose conversations are read at once. */
const AGENTS_AT_ONCE = 100;
const TEXT_MAX = 2_000;
const DIFF_MAX = 20_000;

/** Compares two trees, or two agents with all below them: the first difference, then agent by agent. */
export async function diffDocument(store: Store, a: string, b: string): Promise<DiffDocument> {
  const agents = [await oneAgent(store, a), await oneAgent(store, b)] as const;
  const [played_a, played_b] = [await playedBelow(store, agents[0]), await playedBelow(store, agents[1])];
  const compared = compareTrees(played_a, played_b);
  const first = firstOf(compared);
  const [of_a, of_b] = agents.map(({ id, root_id, name }) => ({ agent_id: id, root_id, agent: name }));
  return {
    ...{ schema: 'coppice/diff/v1', a: of_a as DiffDocument['a'], b: of_b as DiffDocument['b'] },
    same: first === undefined,
    first: first === undefined ? null : firstJson(first),
    agents: compared.map(({ path, a, b, differs }) => ({
      ...{ path, differs: [...differs] },
      ...{ a: a && sideJson(a), b: b && sideJson(b) },
    })),
  };
}

async function playedBelow(store: Store, agent: Agent): Promise<Played[]> {
  const below = descendantsOf(agent.id, (await store.agents({ root_id: agent.root_id })).toReversed());
  const all = [agent, ...below];
  const played: Played[] = [];
  for (let at = 0; at < all.length; at += AGENTS_AT_ONCE) {
    const some = all.slice(at, at + AGENTS_AT_ONCE);
    const found = await store.conversations(some.map(({ id }) => id));
    played.push(...some.map((one) => ({ agent: one, messages: found.get(one.id)?.messages ?? [] })));
  }
  return played;
}

function firstJson({ path, a, b, differs, message }: ComparedAgent): DiffDocument['first'] {
  const [one, other] = [message?.a ?? null, message?.b ?? null];
  const what = one?.what ?? other?.what ?? differs[0] ?? '';
  const texts =
    message === null
      ? ([a, b] as const).map((side) => JSON.stringify(side, null, 1))
      : [one?.text, other?.text];
  const [before = '', after = ''] = texts;
  const lines = difference(path, `${before}\n`, `${after}\n`);
  return {
    ...{ path, what, a_seq: one?.seq ?? null, b_seq: other?.seq ?? null },
    diff: lines === null ? null : cutText(lines.slice(Math.max(0, lines.indexOf('@@'))), DIFF_MAX, '…\n'),
  };
}

function sideJson({ answer, ...side }: Side): NonNullable<DiffDocument['agents'][number]['a']> {
  return {
    ...side,
    answer: answer === null ? null : cutText(answer, TEXT_MAX, '…'),
    calls: [...side.calls],
    files: [...side.files],
  };
}
