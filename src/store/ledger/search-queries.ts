import { setImmediate as soon } from 'node:timers/promises';
import { type Message, messageText } from '../../records/conversation/message.ts';
import { readPlace } from '../../records/text/list-place.ts';
import { searchWords } from '../../records/text/search-words.ts';
import type { SearchLedger } from '../store.ts';
import type { Database } from './database.ts';
import { messageOf, type Row } from './rows.ts';

/** Agents that are looked at, and messages that are indexed, before other work has its turn. */
const AGENTS_AT_ONCE = 1_000;
const MESSAGES_AT_ONCE = 200;
/** Maximum letters of a message that are searched. */
const SEARCHED_MAX = 100_000;
/** In SQLite a row of the index is numbered by its agent's place and its seq. */
const SEQ_BITS = 24;

interface Statements {
  /** Writes `[place, seq, at, words]`; only of agents that are still there. Idempotent. */
  readonly insert: string;
  /** Moves the places of agents to `[number, seq]`. */
  readonly moved: string;
  /** The words $1 as the database searches for them. */
  readonly found: string;
  readonly queryOf: (phrases: readonly (readonly string[])[]) => string;
}

const SQLITE: Statements = {
  insert: `INSERT OR REPLACE INTO search_words (rowid, at, words)
    SELECT (p.number << ${SEQ_BITS}) + (e.value->>1), e.value->>2, e.value->>3 FROM json_each($1) e CROSS JOIN search_places p ON p.number = e.value->>0`,
  moved: `UPDATE search_places AS p SET seq = e.value->>1 FROM json_each($1) e WHERE p.number = e.value->>0 AND p.seq < e.value->>1`,
  found: `SELECT w.rowid >> ${SEQ_BITS} AS place, w.rowid & ${2 ** SEQ_BITS - 1} AS seq, w.at FROM search_words w WHERE search_words MATCH $1`,
  queryOf: (phrases) => phrases.map((words) => `"${words.join(' ')}"*`).join(' AND '),
};

const POSTGRES: Statements = {
  insert: `INSERT INTO search_words (place, seq, at, words)
    SELECT p.number, (e->>1)::bigint, (e->>2)::bigint, to_tsvector('simple', e->>3)
    FROM jsonb_array_elements($1::jsonb) e JOIN search_places p ON p.number = (e->>0)::bigint ON CONFLICT DO NOTHING`,
  moved: `UPDATE search_places p SET seq = (e->>1)::bigint FROM jsonb_array_elements($1::jsonb) e
    WHERE p.number = (e->>0)::bigint AND p.seq < (e->>1)::bigint`,
  found: `SELECT place, seq, at FROM search_words WHERE words @@ to_tsquery('simple', $1)`,
  queryOf: (phrases) => phrases.map((words) => `(${words.join(' <-> ')}:*)`).join(' & '),
};

const isBehind = ({ seq, last_seq }: Row) => Number(seq) < Number(last_seq);

/** What of a message is searched. */
const textOf = (message: Message) => messageText(message).slice(0, SEARCHED_MAX);

const NEW_PLACES = `INSERT INTO search_places (agent_id, seq)
  SELECT g.id, coalesce(g.forked_seq, 0) FROM agents g WHERE NOT EXISTS (SELECT 1 FROM search_places p WHERE p.agent_id = g.id)
  ORDER BY g.created_at ON CONFLICT DO NOTHING`;

/** Full text of all conversations. */
export function searches(db: Database): SearchLedger {
  const { insert, moved, found, queryOf } = db.kind === 'sqlite' ? SQLITE : POSTGRES;
  const { join } = db.dialect;
  let indexing: Promise<boolean> | null = null;

  /** Indexes the next messages of these agents, of each from its place on; resolves to those of which there are more. */
  const indexSome = async (agents: readonly Row[]): Promise<Row[]> => {
    const sql = 'SELECT * FROM messages WHERE agent_id = $1 AND seq > $2 ORDER BY seq LIMIT $3';
    const words: unknown[] = [];
    const places: [number: unknown, seq: unknown][] = [];
    for (const { number, agent_id, seq, last_seq } of agents) {
      if (words.length >= MESSAGES_AT_ONCE) break;
      const values = [agent_id as string, seq as number, MESSAGES_AT_ONCE];
      const messages = (await db.read(sql, values)).map(messageOf);
      for (const one of messages) words.push([number, one.seq, one.at, searchWords(textOf(one)).join(' ')]);
      // Where messages are missing, nothing will come.
      places.push([number, messages.at(-1)?.seq ?? last_seq]);
    }
    await db.write(insert, [JSON.stringify(words)]);
    await db.write(moved, [JSON.stringify(places)]);
    const reached = new Map(places);
    const now = agents.map((one) => ({ ...one, seq: reached.get(one.number) ?? one.seq }) as Row);
    return now.filter(isBehind);
  };

  const index = async (limit_ms: number): Promise<boolean> => {
    const until = performance.now() + limit_ms;
    await db.write(NEW_PLACES);
    const page = `SELECT p.number, p.agent_id, p.seq, g.last_seq FROM (SELECT * FROM search_places WHERE number < $1 ORDER BY number DESC LIMIT $2) p
      ${join('agents', 'g', 'g.id = p.agent_id')} ORDER BY p.number DESC`;
    for (let below = Number.MAX_SAFE_INTEGER; ; await soon()) {
      const rows = await db.read(page, [below, AGENTS_AT_ONCE]);
      for (let behind = rows.filter(isBehind); behind.length > 0; await soon()) {
        if (performance.now() > until) return false;
        behind = await indexSome(behind);
      }
      const last = rows.at(-1);
      if (last === undefined) return true;
      below = Number(last.number);
    }
  };

  return {
    indexMessages: (limit_ms) => {
      indexing ??= index(limit_ms).finally(() => {
        indexing = null;
      });
      return indexing;
    },

    search: async (phrases, before, limit) => {
      const { at, id = '' } = (before === undefined ? null : readPlace(before)) ?? {
        at: Number.MAX_SAFE_INTEGER,
      };
      const [agent_id = '', seq = ''] = id.split(':');
      const sql = `SELECT h.root_id, h.name, m.* FROM (
          SELECT p.agent_id, w.seq, w.at, g.root_id, g.name FROM (${found}) w
          ${join('search_places', 'p', 'p.number = w.place')} ${join('agents', 'g', 'g.id = p.agent_id')}
          WHERE (w.at, p.agent_id, w.seq) < ($2, $3, $4) ORDER BY w.at DESC, p.agent_id DESC, w.seq DESC LIMIT $5
        ) h ${join('messages', 'm', 'm.agent_id = h.agent_id AND m.seq = h.seq')} ORDER BY m.at DESC, m.agent_id DESC, m.seq DESC`;
      const rows: Row[] = await db.read(sql, [queryOf(phrases), at, agent_id, Number(seq), limit]);
      return rows.map(({ root_id, name, ...row }) => {
        const message = messageOf(row);
        return {
          root_id: root_id as string,
          agent_name: name as string,
          message,
          text: textOf(message),
        };
      });
    },
  };
}
