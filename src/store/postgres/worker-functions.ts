/** Who leads what, inside the database. */
export const WORKER_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_claim(tree text, leader text, gone text[], token text) RETURNS SETOF agents LANGUAGE plpgsql AS $$
BEGIN
  -- The look at the workers is made anew for a row that another claim has just changed, unlike a join: so one of two claims wins. What has the
  -- token was given to this very claim before, and the answer was lost on its way back.
  RETURN QUERY UPDATE agents SET worker = leader, epoch = agents.epoch + 1, last_write = token,
    -- A process died (it did not release the agent) while a call of it ran there.
    deaths = agents.deaths + CASE WHEN agents.worker IS NOT NULL AND agents.last_write IS DISTINCT FROM token AND agents.status = 'executing'
      AND coppice_runs_call(agents.state) THEN 1 ELSE 0 END
  WHERE id IN (
    SELECT g.id FROM agents g WHERE g.root_id = tree AND NOT coppice_is_terminal(g.status) AND (g.worker IS NULL
      OR (g.worker = leader AND g.last_write = token)
      OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = g.worker AND w.expires_at > coppice_now() AND NOT w.id = ANY (gone)))
    FOR UPDATE OF g SKIP LOCKED
  ) RETURNING agents.*;
END $$;
`;
