import type { CutFacts, CutLedger } from '../../../kernel/cut/cut-facts.ts';
import { enterCut } from '../../../kernel/cut/cut-tree.ts';
import {
  CLOCKS_APART_MS,
  type ConsistentCut,
  type CutLetter,
  consistentCut,
  isInFlight,
} from '../../../kernel/cut/places.ts';
import type { PlacedMessage } from '../../../records/conversation/message.ts';
import { keptIn } from '../../../records/kept-in.ts';
import { type Database, NO_LIMIT } from '../database.ts';
import { messageOf, type Row } from '../rows.ts';
import { partsOf } from './conversations.ts';

/** A number at the beginning of a text, because a list in a statement holds texts. */
const DIGITS = 16;
const keyed = (n: number, id: string) => `${String(n).padStart(DIGITS, '0')}${id}`;
const NUMBER = `CAST(substr(e.value, 1, ${DIGITS}) AS bigint)`;
const ID = `substr(e.value, ${DIGITS + 1})`;
/** Of two numbers and an id: the second number, and the id. */
const FROM = `CAST(substr(e.value, ${DIGITS + 1}, ${DIGITS}) AS bigint)`;
const OWNER = `substr(e.value, ${2 * DIGITS + 1})`;
const TASK_CALLS = `SELECT m.* FROM agents g JOIN messages m ON m.agent_id = g.id
  WHERE g.root_id = $1 AND m.kind = 'result' AND m.content LIKE '%"name":"task_%' ORDER BY m.at, m.seq`;

/** The same rule in SQL, by what a message is written like. */
function begins(message: PlacedMessage | undefined): boolean {
  return message?.kind === 'user' && message.content.origin !== 'system';
}

/** Cuts of trees. */
export function cuts(db: Database): CutLedger {
  const { elements, join, row_number } = db.dialect;
  const each = `${elements('$1')} AS e`;
  const begun = `coalesce((SELECT b.seq FROM messages b WHERE b.agent_id = ${OWNER} AND b.seq <= ${NUMBER} AND b.seq > ${FROM}
    AND b.kind = 'user' AND substr(b.content, 1, 18) <> '{"origin":"system"' ORDER BY b.seq DESC LIMIT 1), 0)`;
  const TAILS = `SELECT e.value AS key, m.* FROM ${each} ${join('messages', 'm', `m.agent_id = ${OWNER} AND m.seq <= ${NUMBER} AND m.seq > ${FROM} AND m.seq >= ${begun}`)}`;
  const COMMANDS = `SELECT count(*) AS n FROM ${each} ${join('messages', 'm', `m.agent_id = ${ID} AND m.seq > ${NUMBER} AND m.kind = 'result' AND m.content LIKE '%"name":"bash"%'`)}`;
  const places = (keys: readonly string[]) =>
    db.read(
      `SELECT ${ID} AS id, (SELECT m.seq FROM messages m WHERE m.agent_id = ${ID} AND m.at <= ${NUMBER} ORDER BY m.seq DESC LIMIT 1) AS seq FROM ${each}`,
      [JSON.stringify(keys)],
    );
  const letters = async (cut: ReadonlyMap<string, number>, at: number) => {
    const told = `(SELECT min(x.seq) FROM messages x WHERE x.agent_id = m.to_id AND x.seq >= m.consumed_seq
      AND (x.kind = 'user' OR (x.seq = m.consumed_seq AND x.kind = 'result' AND x.content LIKE '%"name":"subagent_%')))`;
    // A plain join: where most letters went to one agent, PostgreSQL reads all mail once for each agent by `join`.
    const sql = `SELECT m.id, m.to_id, m.from_id, m.kind, m.sent_at, m.sent_seq, m.number, m.consumed_seq IS NOT NULL AS is_taken,
      CASE WHEN m.kind = 'outcome' THEN ${told} ELSE m.consumed_seq END AS consumed_seq FROM ${each}
      JOIN mail m ON m.to_id = ${ID} AND (m.consumed_seq IS NULL OR m.consumed_seq > ${NUMBER} OR m.kind = 'outcome' OR m.sent_at > $2) ORDER BY m.number`;
    const keys = [...cut].map(([id, seq]) => keyed(seq, id));
    return (await db.read(sql, [JSON.stringify(keys), at - CLOCKS_APART_MS])) as unknown as CutLetter[];
  };
  /** Of agents that have changed since: the messages up to the cut, from the one that began a turn, also if another tree has it. */
  const tails = async (members: readonly Row[], { places: at }: ConsistentCut, time: number) => {
    const changed = members.filter(({ id, last_seq, updated_at }) => {
      const place = at.get(id as string);
      return place !== undefined && (place !== last_seq || (updated_at as number) > time);
    });
    const cut_before = changed.flatMap(({ id, was }) => (was === null ? [] : [id as string]));
    const earlier = cut_before.length === 0 ? new Map() : await partsOf(db, cut_before);
    const found = new Map<string, PlacedMessage[]>();
    let open = changed.map(({ id, forked_seq }) => {
      const own = { id: id as string, from: (forked_seq ?? 0) as number, to: NO_LIMIT, as: id as string };
      const parts: readonly (typeof own)[] = earlier.get(id) ?? [own];
      return {
        id: id as string,
        parts: parts.filter((one) => one.as === id && one.from < (at.get(one.as) ?? 0)),
      };
    });
    for (
      ;
      open.length > 0;
      open = open.filter((one) => one.parts.length > 0 && !begins(found.get(one.id)?.[0]))
    ) {
      const agents = new Map<string, string>();
      for (const { id, parts } of open) {
        const { id: owner, from, to } = parts.pop() ?? { id, from: 0, to: 0 };
        agents.set(keyed(Math.min(to, at.get(id) ?? 0), keyed(from, owner)), id);
      }
      const read = new Map<string, PlacedMessage[]>();
      for (const { key, ...row } of await db.read(TAILS, [JSON.stringify([...agents.keys()])]))
        keptIn(read, agents.get(key as string) as string, () => []).push(messageOf(row));
      for (const [id, tail] of read)
        found.set(id, [...tail.sort((a, b) => a.seq - b.seq), ...(found.get(id) ?? [])]);
    }
    return found;
  };
  return {
    async cutFacts(root_id, point) {
      const ofTree = (sql: string, ...more: number[]) => db.read(sql, [root_id, ...more]);
      const [[tree], [instructions], members, runs, tasks, asked] = await Promise.all([
        ofTree('SELECT * FROM trees WHERE root_id = $1'),
        ofTree('SELECT text FROM instructions WHERE root_id = $1'),
        ofTree(`SELECT * FROM agents WHERE root_id = $1 ORDER BY depth, created_at, ${row_number}`),
        ofTree('SELECT * FROM subagent_runs WHERE root_id = $1'),
        ofTree('SELECT * FROM tasks WHERE root_id = $1'),
        ofTree(
          'SELECT agent_id, call_id FROM asks WHERE root_id = $1 AND asked_at <= $2 AND (answered_at IS NULL OR answered_at > $2)',
          point.at,
        ),
      ]);
      if (tree === undefined || members.length === 0) return null;
      const { at } = point;
      const changed = members.filter(({ updated_at }) => Number(updated_at) > at);
      const bound = ({ id, created_at }: Row) => keyed(Math.max(at, created_at as number), id as string);
      const [found, spent] = await Promise.all([
        places(changed.map(bound)),
        db.read(
          `SELECT q.agent_id, sum(q.input_tokens) AS input_tokens, sum(q.output_tokens) AS output_tokens, sum(q.cached_tokens) AS cached_tokens,
            coalesce(sum(q.cost_usd), 0) AS cost_usd FROM ${each} ${join('requests', 'q', 'q.agent_id = e.value AND (q.started_at >= $2 OR q.started_at + q.duration_ms > $2)')} GROUP BY q.agent_id`,
          [JSON.stringify(changed.map(({ id }) => id)), at],
        ),
      ]);
      const by_time = new Map(members.map((one) => [one.id as string, one.last_seq as number]));
      for (const { id, seq } of found)
        by_time.set(id as string, Number(seq ?? members.find((one) => one.id === id)?.forked_seq ?? 0));
      // Places that went back leave more letters unread.
      let cut = consistentCut(members, by_time, [], point);
      const near = new Map<string, CutLetter>();
      for (let known = -1; known < near.size; ) {
        known = near.size;
        for (const letter of await letters(cut.places, at)) near.set(letter.id, letter);
        cut = consistentCut(members, by_time, [...near.values()], point);
      }
      const changes_tasks = tasks.some((one) => (one.changed_at as number) > at - CLOCKS_APART_MS);
      const wanted = [...near.values()].filter((one) => one.kind === 'outcome' || isInFlight(one, cut, at));
      const [bodies, read, task_calls, [ran]] = await Promise.all([
        db.read(`SELECT m.* FROM ${each} ${join('mail', 'm', 'm.id = e.value')}`, [
          JSON.stringify(wanted.map(({ id }) => id)),
        ]),
        tails(members, cut, at),
        changes_tasks ? ofTree(TASK_CALLS) : [],
        db.read(COMMANDS, [
          JSON.stringify(members.map(({ id }) => keyed(cut.places.get(id as string) ?? 0, id as string))),
        ]),
      ]);
      return {
        ...{ point, tree, members, cut, runs, tasks, letters: [...near.values()], tails: read },
        commands: Number(ran?.n ?? 0),
        task_calls: task_calls.map(messageOf),
        instructions: (instructions?.text as string | undefined) ?? null,
        bodies: new Map(bodies.map((row) => [row.id as string, row])),
        asked: asked as unknown as CutFacts['asked'],
        spent_since: new Map(
          spent.map(({ agent_id, ...sums }) => [
            agent_id as string,
            Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum)])),
          ]),
        ),
      };
    },

    enterCut: (cut) =>
      db.transact(
        { tree: [cut.place.of, cut.root_id] },
        (unit, found) => enterCut(unit, cut, new Set(found.map(({ id }) => id))),
        { sql: 'SELECT id FROM agents WHERE root_id = $1', values: [cut.place.of] },
      ),
  };
}
