/**
 * The composed history of an agent ($1): each ancestor's messages up to its fork point, from $2 (exclusive), at most $3. `OFFSET 0` keeps each look-up one
 * by the index: a planner that has not yet counted the rows of a young ledger joins whole tables.
 */
export const HISTORY = `WITH RECURSIVE chain (id, from_seq, to_seq, forked_from, place) AS (
    SELECT id, coalesce(forked_seq, 0), 9007199254740991, forked_from, 0 FROM agents WHERE id = $1
    UNION ALL
    SELECT g.id, coalesce(g.forked_seq, 0), least(chain.from_seq, chain.to_seq), g.forked_from, chain.place + 1
    FROM chain CROSS JOIN LATERAL (SELECT * FROM agents WHERE id = chain.forked_from OFFSET 0) g WHERE chain.from_seq > $2
  )
  SELECT m.* FROM chain CROSS JOIN LATERAL (
    SELECT * FROM messages WHERE agent_id = chain.id AND seq > greatest(chain.from_seq, $2) AND seq <= chain.to_seq OFFSET 0
  ) m
  ORDER BY m.seq LIMIT $3`;
