import type { Checkpoint } from '../../../records/conversation/checkpoint.ts';
import type { PlacedMessage } from '../../../records/conversation/message.ts';
import { keptIn } from '../../../records/kept-in.ts';
import type { Conversation } from '../../read-records.ts';
import { type Database, NO_LIMIT } from '../database.ts';
import { mailOf, messageOf, parseColumn, type Row } from '../rows.ts';

/** Messages of one agent that belong to a conversation: its own, or an ancestor's up to a fork point. */
interface Part {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** Whose conversation it is: in a tree that was cut from another one, an agent goes on with what was its own. */
  readonly as: string;
  /** The newest checkpoint among them, if it was asked for. */
  readonly checkpoint: Checkpoint | null;
}

/** As the index `messages_checkpoints` has it. */
const IS_CHECKPOINT = `kind = 'event' AND substr(content, 1, 21) = '{"event":"checkpoint"'`;
const CHECKPOINT = `, (SELECT m.content FROM messages m WHERE m.agent_id = l.id AND m.seq > l.own_from AND m.seq <= l.until AND ${IS_CHECKPOINT}
    ORDER BY m.seq DESC LIMIT 1) AS checkpoint`;
const MESSAGES =
  'SELECT * FROM messages WHERE agent_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4';

/** The parts of the conversation of each agent, the oldest first. `more`: further columns. */
export async function partsOf(db: Database, ids: readonly string[], more = ''): Promise<Map<string, Part[]>> {
  const { elements, join } = db.dialect;
  const sql = `WITH RECURSIVE lineage (leaf, id, own_from, until, forked_from, depth, was, own) AS (
      SELECT g.id, g.id, coalesce(g.forked_seq, 0), ${NO_LIMIT}, g.forked_from, 0, g.was, g.id
      FROM ${elements('$1')} AS e ${join('agents', 'g', 'g.id = e.value')}
      UNION ALL
      SELECT l.leaf, g.id, coalesce(g.forked_seq, 0), CASE WHEN l.own_from < l.until THEN l.own_from ELSE l.until END, g.forked_from, l.depth + 1,
        g.was, CASE WHEN l.was IS NULL THEN g.id ELSE l.own END
      FROM lineage l ${join('agents', 'g', 'g.id = l.forked_from')}
    ) SELECT leaf, id, own_from, until, own${more} FROM lineage l ORDER BY depth DESC`;
  const parts = new Map<string, Part[]>(ids.map((id) => [id, []]));
  for (const { leaf, id = null, own_from, until, own, checkpoint = null } of await db.read(sql, [
    JSON.stringify(ids),
  ]))
    parts.get(leaf as string)?.push({
      ...{ id: id as string, from: own_from as number, to: until as number, as: own as string },
      checkpoint: checkpoint
        ? parseColumn<{ readonly data: Checkpoint }>({ id, checkpoint }, 'checkpoint').data
        : null,
    });
  return parts;
}

const newestOf = (parts: readonly Part[] = []) =>
  parts.findLast(({ checkpoint }) => checkpoint !== null)?.checkpoint ?? null;

export async function newestCheckpoint(db: Database, agent_id: string): Promise<Checkpoint | null> {
  return newestOf((await partsOf(db, [agent_id], CHECKPOINT)).get(agent_id));
}

/** What is left of the parts after the seq `after`. */
const since = (parts: readonly Part[] = [], after: number) =>
  parts.map((part) => ({ ...part, from: Math.max(part.from, after) })).filter(({ from, to }) => to > from);

export async function history(db: Database, agent_id: string, after: number, limit: number) {
  const rows: Row[] = [];
  for (const { id, from, to, as } of since((await partsOf(db, [agent_id])).get(agent_id), after)) {
    if (rows.length >= limit) break;
    for (const row of await db.read(MESSAGES, [id, from, to, limit - rows.length]))
      rows.push({ ...row, agent_id: as });
  }
  return rows.map(messageOf);
}

/** A part as a text with two numbers at its beginning, because a list in a statement holds texts. */
const DIGITS = 16;
const digits = (n: number) => String(n).padStart(DIGITS, '0');
const keyOf = ({ id, from, to }: Part) => `${digits(from)}${digits(to)}${id}`;
const digitsIn = (from: number) => `CAST(substr(e.value, ${from}, ${DIGITS}) AS bigint)`;

/** Three statements, however many agents; what forks have in common is read once. */
export async function conversations(db: Database, ids: readonly string[]) {
  const { elements, join } = db.dialect;
  const each = `${elements('$1')} AS e`;
  const PENDING = `SELECT m.* FROM ${each} ${join('mail', 'm', 'm.to_id = e.value AND m.consumed_seq IS NULL')} ORDER BY m.number`;
  const is_in = `m.agent_id = substr(e.value, ${2 * DIGITS + 1}) AND m.seq > ${digitsIn(1)} AND m.seq <= ${digitsIn(DIGITS + 1)}`;
  const MESSAGES_OF = `SELECT e.value AS part, m.* FROM ${each} ${join('messages', 'm', is_in)}`;
  const [all, mail] = await Promise.all([
    partsOf(db, ids, CHECKPOINT),
    db.read(PENDING, [JSON.stringify(ids)]),
  ]);
  const keys = new Map<string, (readonly [key: string, as: string])[]>();
  for (const [id, parts] of all)
    keys.set(
      id,
      since(parts, newestOf(parts)?.through ?? 0).map((part) => [keyOf(part), part.as] as const),
    );
  const found = new Map<string, PlacedMessage[]>();
  for (const { part, ...row } of await db.read(MESSAGES_OF, [
    JSON.stringify([...new Set([...keys.values()].flat().map(([key]) => key))]),
  ]))
    keptIn(found, part as string, () => []).push(messageOf(row));
  for (const messages of found.values()) messages.sort((a, b) => a.seq - b.seq);
  const letters = Map.groupBy(mail.map(mailOf), ({ to_id }) => to_id);
  const messagesOf = (part: string, as: string) => {
    const messages = found.get(part) ?? [];
    return messages[0]?.agent_id === as ? messages : messages.map((one) => ({ ...one, agent_id: as }));
  };
  const conversationOf = (id: string, parts: readonly (readonly [string, string])[]): Conversation => ({
    messages: parts.flatMap(([part, as]) => messagesOf(part, as)),
    mail: letters.get(id) ?? [],
  });
  return new Map([...keys].map(([id, parts]) => [id, conversationOf(id, parts)]));
}
