/**
 * Who leads what, inside the database. `unled` holds every agent of a served tree that has something to do (it is at work, or there is mail for it) and
 * no worker, with the time before which nobody need come, so that nobody has to look for such agents among those that are parked. Whoever changes one of these facts does so with the
 * agent's row locked, and then sees to its row in `unled`.
 */
export const WORKER_FUNCTIONS = `
-- Each not before its time; -1: not before there is mail.
CREATE OR REPLACE FUNCTION coppice_enter_due(ids text[], dues bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO unled AS u (root_id, agent_id, due_at)
  SELECT g.root_id, g.id, CASE WHEN has_mail THEN 0 ELSE seeker.due_at END
  FROM unnest(ids, dues) AS seeker (id, due_at) JOIN agents g ON g.id = seeker.id JOIN trees t ON t.root_id = g.root_id,
    LATERAL (SELECT EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL) AS has_mail) AS box
  WHERE t.served AND g.worker IS NULL AND NOT coppice_is_terminal(g.status)
    AND (has_mail OR (coppice_is_working(g.status) AND seeker.due_at >= 0))
  ON CONFLICT (root_id, agent_id) DO UPDATE SET due_at = excluded.due_at WHERE u.due_at > excluded.due_at
$$;

CREATE OR REPLACE FUNCTION coppice_enter_unled(ids text[]) RETURNS void LANGUAGE sql AS $$
  SELECT coppice_enter_due(ids, array_fill(0::bigint, ARRAY[coalesce(cardinality(ids), 0)]))
$$;

CREATE OR REPLACE FUNCTION coppice_leave_unled(ids text[]) RETURNS void LANGUAGE sql AS $$
  DELETE FROM unled u USING unnest(ids) AS led (id), agents g WHERE g.id = led.id AND u.root_id = g.root_id AND u.agent_id = g.id
$$;

CREATE OR REPLACE FUNCTION coppice_serve(tree text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE members text[];
BEGIN
  UPDATE trees SET served = true WHERE root_id = tree AND NOT served;
  IF NOT FOUND THEN RETURN; END IF;
  -- Locked: whoever gives one of them up at this moment either sees that the tree is served, or is seen here.
  SELECT array_agg(g.id) INTO members FROM (SELECT id FROM agents WHERE root_id = tree AND NOT coppice_is_terminal(status) FOR UPDATE) AS g;
  PERFORM coppice_enter_unled(members);
END $$;

-- Takes at most so many agents from a worker (of one tree, if named). Those of a dead one get a new epoch: should it wake up, it is fenced out.
-- Those that are parked need nobody before their time (see coppice_enter_due), if nothing was told of them that was not heard.
CREATE OR REPLACE FUNCTION coppice_free(holder text, tree text, most bigint, is_dead boolean, parked jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE ids text[];
BEGIN
  IF tree IS NULL THEN
    SELECT array_agg(g.id) INTO ids FROM (SELECT id FROM agents WHERE worker = holder LIMIT most FOR UPDATE SKIP LOCKED) AS g;
  ELSE
    -- Whoever ends an agent that others wait for has this lock: either its signal is seen here, or it sees that they have no worker.
    PERFORM 1 FROM trees WHERE root_id = tree FOR UPDATE;
    SELECT array_agg(g.id) INTO ids FROM (SELECT id FROM agents WHERE root_id = tree AND worker = holder LIMIT most FOR UPDATE) AS g;
  END IF;
  IF ids IS NULL THEN RETURN 0; END IF;
  UPDATE agents SET worker = NULL, epoch = epoch + is_dead::integer,
    -- A process died while a call of the agent ran there.
    deaths = deaths + CASE WHEN is_dead AND status = 'executing' AND coppice_runs_call(state) THEN 1 ELSE 0 END
  WHERE id = ANY (ids);
  PERFORM coppice_enter_due(ids, ARRAY(SELECT CASE WHEN s.agent_id IS NULL THEN coalesce((parked->>i.id)::bigint, 0) ELSE 0 END
    FROM unnest(ids) WITH ORDINALITY AS i (id, place) LEFT JOIN (SELECT DISTINCT agent_id FROM signals WHERE worker = holder) AS s ON s.agent_id = i.id
    ORDER BY i.place));
  RETURN cardinality(ids);
END $$;

-- Takes at most so many agents from a dead worker; the last of it goes with them.
CREATE OR REPLACE FUNCTION coppice_bury(dead text, gone text[], most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE freed bigint;
BEGIN
  PERFORM 1 FROM workers WHERE id = dead AND expires_at > coppice_now() AND NOT id = ANY (gone);
  IF FOUND THEN RETURN 0; END IF;
  freed := coppice_free(dead, NULL, most, true, '{}');
  IF freed < most THEN
    DELETE FROM signals WHERE worker = dead;
    DELETE FROM channel_seats WHERE worker = dead;
    DELETE FROM workers WHERE id = dead AND (expires_at <= coppice_now() OR id = ANY (gone));
  END IF;
  RETURN freed;
END $$;

CREATE OR REPLACE FUNCTION coppice_claim(tree text, leader text, gone text[], token text) RETURNS SETOF agents LANGUAGE plpgsql AS $$
DECLARE ids text[];
BEGIN
  -- A tree that is being removed is led by nobody; whoever closes it waits for this claim, and the other way round.
  PERFORM 1 FROM trees WHERE root_id = tree AND removal IS NULL FOR SHARE;
  IF NOT FOUND THEN RETURN; END IF;
  -- The look at the workers is made anew for a row that another claim has just changed, unlike a join: so one of two claims wins. What has the
  -- token was given to this very claim before, and the answer was lost on its way back.
  SELECT array_agg(free.id) INTO ids FROM (
    SELECT g.id FROM agents g WHERE g.root_id = tree AND NOT coppice_is_terminal(g.status) AND (g.worker IS NULL
      OR (g.worker = leader AND g.last_write = token)
      OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = g.worker AND w.expires_at > coppice_now() AND NOT w.id = ANY (gone)))
    FOR UPDATE OF g SKIP LOCKED) AS free;
  RETURN QUERY UPDATE agents SET worker = leader, epoch = agents.epoch + 1, last_write = token,
    deaths = agents.deaths + CASE WHEN agents.worker IS NOT NULL AND agents.last_write IS DISTINCT FROM token AND agents.status = 'executing'
      AND coppice_runs_call(agents.state) THEN 1 ELSE 0 END
  WHERE id = ANY (ids) RETURNING agents.*;
  PERFORM coppice_leave_unled(ids);
END $$;
`;
