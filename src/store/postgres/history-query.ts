/** The composed history of an agent ($1): each ancestor's messages up to its fork point, from $2 (exclusive), at most $3. */
export const HISTORY = `WITH RECURSIVE chain (id, from_seq, to_seq, forked_from, place) AS (
    SELECT id, coalesce(forked_seq, 0), 9007199254740991, forked_from, 0 FROM agents WHERE id = $1
    UNION ALL
    SELECT g.id, coalesce(g.forked_seq, 0), least(chain.from_seq, chain.to_seq), g.forked_from, chain.place + 1
    FROM chain JOIN agents g ON g.id = chain.forked_from WHERE chain.from_seq > $2
  )
  SELECT m.* FROM chain JOIN messages m ON m.agent_id = chain.id AND m.seq > greatest(chain.from_seq, $2) AND m.seq <= chain.to_seq
  ORDER BY m.seq LIMIT $3`;
