import type { MailKind } from '../../records/conversation/mail.ts';
import type { Row } from '../ledger/tables.ts';

/** What is this much older than a cut cannot rest on what is later, however far the clocks of two machines are apart. */
export const CLOCKS_APART_MS = 60_000;

/** A moment in the past of a tree. `seq`: the cut ends with this message of this agent, wherever the clocks of other processes stood. */
export interface CutPoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly agent_id?: string;
  readonly seq?: number;
}

/** What is known of mail without its text. */
export interface CutLetter {
  readonly id: string;
  readonly to_id: string;
  readonly from_id: string | null;
  readonly kind: MailKind;
  readonly sent_at: number;
  readonly sent_seq: number | null;
  /** For an outcome: the message that told it. Until then its reader only keeps it, and can read it again. */
  readonly consumed_seq: number | null;
  /** Whether it has left the mailbox, even if no message has told it yet. */
  readonly is_taken: boolean;
  readonly number: number;
}

/** By agent that exists at the cut: the last message of its conversation that is in it. */
export type Places = ReadonlyMap<string, number>;

/** The cut, and the agents that had to go further than the clock says. */
export interface ConsistentCut {
  readonly places: Places;
  readonly raised: ReadonlySet<string>;
}

/**
 * A consistent cut near a moment: no message in it rests on one that is not. `by_time`: the last message of each member before the moment, or of its birth if
 * it was born later. An agent that read what is not in the cut goes back to before it; only what the named message rests on is added instead.
 */
export function consistentCut(
  members: readonly Row[],
  by_time: Places,
  letters: readonly CutLetter[],
  { at, agent_id, seq }: CutPoint,
): ConsistentCut {
  const places = new Map(by_time);
  const [fixed, raised] = [new Set<string>(), new Set<string>()];
  if (agent_id !== undefined && seq !== undefined) places.set(agent_id, seq);
  const byId = new Map(members.map((member) => [member.id as string, member]));
  const placeOf = (id: string) => places.get(id) ?? 0;
  /** The named message rests on the agent up to here, and so on its birth. */
  const fix = (id: string, to: number) => {
    let least = to;
    for (let one = byId.get(id); one !== undefined; one = byId.get(one.parent_id as string)) {
      const { id: own, made_seq } = one as unknown as Member;
      if (own !== agent_id && placeOf(own) < least) {
        places.set(own, least);
        raised.add(own);
      }
      fixed.add(own);
      least = made_seq ?? 0;
    }
  };
  if (agent_id !== undefined) fix(agent_id, 0);
  for (;;) {
    const exists = existing(members, placeOf, fixed, at);
    const wrong = letters.find(({ from_id, to_id, consumed_seq, sent_seq, sent_at }) => {
      if (from_id === null || from_id === to_id || !byId.has(from_id)) return false;
      if (!consumed_seq || !exists.has(to_id) || consumed_seq > placeOf(to_id)) return false;
      return !exists.has(from_id) || (sent_seq === null ? sent_at > at : sent_seq > placeOf(from_id));
    });
    if (wrong === undefined) return { places: new Map([...exists].map((id) => [id, placeOf(id)])), raised };
    const { from_id, to_id, sent_seq, consumed_seq } = wrong;
    if (fixed.has(to_id) && sent_seq !== null && from_id !== agent_id) fix(from_id as string, sent_seq);
    else places.set(to_id, (consumed_seq as number) - 1);
  }
}

/** Ids of the members that are born by then; parents come before their children. */
function existing(
  members: readonly Row[],
  placeOf: (id: string) => number,
  fixed: ReadonlySet<string>,
  at: number,
): ReadonlySet<string> {
  const exists = new Set<string>();
  for (const { id, parent_id, made_seq, created_at } of members as unknown as readonly Member[]) {
    const is_born =
      parent_id === null ||
      (exists.has(parent_id) &&
        (made_seq === null || made_seq <= placeOf(parent_id)) &&
        (created_at <= at || fixed.has(id)));
    if (is_born) exists.add(id);
  }
  return exists;
}

interface Member {
  readonly id: string;
  readonly parent_id: string | null;
  readonly made_seq: number | null;
  readonly created_at: number;
}

/** Whether mail is on its way at the cut: sent before it, and not read. */
export function isInFlight(
  { from_id, to_id, sent_at, sent_seq, consumed_seq }: CutLetter,
  { places, raised }: ConsistentCut,
  at: number,
): boolean {
  const place = places.get(to_id);
  if (place === undefined || (consumed_seq !== null && consumed_seq <= place)) return false;
  if (from_id === null || sent_seq === null) return sent_at <= at;
  const sender = places.get(from_id);
  if (sender === undefined || sent_seq > sender) return false;
  return sent_seq < sender || sent_at <= at || raised.has(from_id);
}
