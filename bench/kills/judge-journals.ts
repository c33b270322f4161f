import type { EndedLedger } from '../judge/ended-ledger.ts';
import type { Finding } from '../judge/finding.ts';
import type { Journals } from './journal.ts';
import { markOf, type Offer } from './offer.ts';

export interface JournalJudgement {
  readonly findings: readonly Finding[];
  /** Numbers of acknowledged items that were checked; `taken`: consumed mail. */
  readonly messages: number;
  readonly letters: number;
  readonly agents: number;
  readonly taken: number;
  /** Steps that the ledger was committing at an `in-commit` kill, and how many of them were committed. */
  readonly in_hand: number;
  readonly landed: number;
}

/** Compares the journals with the ledger: acknowledged steps must be there once and unchanged, refused ones not at all, all others whole or not at all. */
export function judgeJournals(
  { acknowledged, refused, deaths }: Journals,
  ledger: EndedLedger,
): JournalJudgement {
  const there = deaths.flatMap(({ open }) => open).filter((offer) => isThere(offer, ledger));
  const in_hand = deaths
    .flatMap(({ point, open }) => (point === 'in-commit' ? open : []))
    .filter(leavesTraces);
  const sum = (count: (offer: Offer) => number) =>
    acknowledged.reduce((total, offer) => total + count(offer), 0);
  return {
    findings: [
      ...acknowledged.flatMap((offer) =>
        missing(offer, ledger).map((text): Finding => ({ law: 'lost', text: `acknowledged: ${text}` })),
      ),
      ...there.flatMap((offer) =>
        missing(offer, ledger).map((text): Finding => ({ law: 'torn', text: `the rest is there: ${text}` })),
      ),
      ...refused
        .filter((offer) => isThere(offer, ledger))
        .map((offer): Finding => ({ law: 'torn', text: `a refused step of ${offer.agent_id} is there` })),
      ...repeated(acknowledged, ledger),
    ],
    messages: sum(({ messages }) => messages.length),
    letters: sum(({ sent }) => sent.length),
    agents: sum(({ created }) => created.length),
    taken: sum(({ consumed }) => consumed.length),
    in_hand: in_hand.length,
    landed: in_hand.filter((offer) => there.includes(offer)).length,
  };
}

/** Whether the step has effects of its own that can be looked up. A person's letter does not count: the next leader sends it again. */
function leavesTraces({ kind, messages, created, sent }: Offer): boolean {
  return kind !== 'letter' && messages.length + created.length + sent.length > 0;
}

function isThere({ messages, created, sent }: Offer, ledger: EndedLedger): boolean {
  return (
    messages.some(([agent_id, seq, mark]) => markAt(ledger, agent_id, seq) === mark) ||
    created.some((id) => ledger.agents.has(id)) ||
    sent.some(([id]) => ledger.mail.has(id))
  );
}

function markAt(ledger: EndedLedger, agent_id: string, seq: number): string | null {
  const own = ledger.messages.get(agent_id) ?? [];
  const message = own[seq - (own[0]?.seq ?? 0)];
  const found = message?.seq === seq ? message : own.find((one) => one.seq === seq);
  return found === undefined ? null : markOf(found.content, found.at);
}

/** Effects of a step that are not in the ledger, in words. */
function missing(offer: Offer, ledger: EndedLedger): string[] {
  const { agent_id, kind } = offer;
  const texts: string[] = [];
  for (const [owner, seq, mark] of offer.messages) {
    const found = markAt(ledger, owner, seq);
    if (found !== mark)
      texts.push(`message ${seq} of ${owner} is ${found === null ? 'not there' : 'another one'}`);
  }
  for (const id of offer.created) if (!ledger.agents.has(id)) texts.push(`agent ${id} is not there`);
  for (const [id, mark] of offer.sent) {
    const mail = ledger.mail.get(id);
    if (mail === undefined) texts.push(`letter ${id} is not there`);
    else if (markOf(mail.body, 0) !== mark) texts.push(`letter ${id} is another one`);
  }
  for (const [id, seq] of offer.consumed)
    if (ledger.mail.get(id)?.consumed_seq !== seq) texts.push(`letter ${id} was not taken by message ${seq}`);
  for (const id of offer.killed)
    if (ledger.agents.get(id)?.state.type !== 'killed') texts.push(`agent ${id} was not ended`);
  return texts.map((text) => `${text} (step "${kind}" of ${agent_id})`);
}

/** Finds acknowledged messages that stand at more than one place. */
function repeated(acknowledged: readonly Offer[], { messages }: EndedLedger): Finding[] {
  const marks = new Set(acknowledged.flatMap((offer) => offer.messages.map(([, , mark]) => mark)));
  return [...messages.values()].flatMap((own) => {
    const places = Map.groupBy(own, ({ content, at }) => markOf(content, at));
    return [...places]
      .filter(([mark, all]) => all.length > 1 && marks.has(mark))
      .map(([, all]): Finding => {
        const seqs = all.map(({ seq }) => seq).join(' and ');
        return { law: 'doubled', text: `the messages ${seqs} of ${all[0]?.agent_id} are the same` };
      });
  });
}
