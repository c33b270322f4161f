/** Letting go of what is old, inside the database. */
export const RETENTION_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_may_go(tree text, since bigint, with_idle boolean, gone text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM agents r WHERE r.id = tree AND r.parent_id IS NULL AND r.updated_at < since
    AND (coppice_is_terminal(r.status) OR (with_idle AND NOT coppice_is_working(r.status)))
    AND EXISTS (SELECT 1 FROM trees t WHERE t.root_id = tree AND t.removal IS NULL);
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM agents g WHERE g.root_id = tree AND (coppice_is_working(g.status) OR g.updated_at >= since
    OR EXISTS (SELECT 1 FROM workers w WHERE w.id = g.worker AND w.expires_at > coppice_now() AND NOT w.id = ANY (gone))
    OR (NOT coppice_is_terminal(g.status) AND EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL))
    OR (SELECT m.sent_at FROM mail m WHERE m.to_id = g.id ORDER BY m.number DESC LIMIT 1) >= since) LIMIT 1;
  IF FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM deliveries d WHERE d.root_id = tree AND d.status = 'pending' LIMIT 1;
  IF FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM cron_jobs j WHERE j.root_id = tree AND j.enabled LIMIT 1;
  RETURN NOT FOUND;
END $$;

CREATE OR REPLACE FUNCTION coppice_close_trees(ids text[], since bigint, with_idle boolean, gone text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE tree text;
BEGIN
  FOR tree IN SELECT t.root_id FROM trees t WHERE t.root_id = ANY (ids) AND t.removal IS NULL ORDER BY t.root_id FOR UPDATE LOOP
    IF coppice_may_go(tree, since, with_idle, gone) THEN
      UPDATE trees SET removal = 'closed' WHERE root_id = tree;
      RETURN NEXT tree;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION coppice_remove_piece(tree text, most bigint, with_runs boolean, removed_at bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE member text; room bigint := most; n bigint; agents_n bigint := 0; messages_n bigint := 0; mail_n bigint := 0; requests_n bigint := 0;
  asks_n bigint := 0; runs_n bigint := 0; is_done boolean := false;
BEGIN
  UPDATE trees SET removal = 'begun' WHERE root_id = tree AND removal IS NOT NULL;
  is_done := NOT FOUND;
  IF NOT is_done THEN
    FOR member IN SELECT id FROM agents WHERE root_id = tree ORDER BY created_at LIMIT most LOOP
      DELETE FROM messages WHERE agent_id = member AND seq IN (SELECT seq FROM messages WHERE agent_id = member LIMIT room);
      GET DIAGNOSTICS n = ROW_COUNT; messages_n := messages_n + n; room := room - n; EXIT WHEN room <= 0;
      DELETE FROM mail WHERE to_id = member AND number IN (SELECT number FROM mail WHERE to_id = member LIMIT room);
      GET DIAGNOSTICS n = ROW_COUNT; mail_n := mail_n + n; room := room - n; EXIT WHEN room <= 0;
      DELETE FROM requests WHERE agent_id = member AND id IN (SELECT id FROM requests WHERE agent_id = member LIMIT room);
      GET DIAGNOSTICS n = ROW_COUNT; requests_n := requests_n + n; room := room - n; EXIT WHEN room <= 0;
      DELETE FROM wait_edges WHERE waiter = member;
      DELETE FROM wait_edges WHERE target = member;
      DELETE FROM signals WHERE agent_id = member;
      PERFORM coppice_leave_unled(ARRAY[member]);
      DELETE FROM agents WHERE id = member;
      agents_n := agents_n + 1; room := room - 1; EXIT WHEN room <= 0;
    END LOOP;
    IF room > 0 THEN
      DELETE FROM asks WHERE root_id = tree AND id IN (SELECT id FROM asks WHERE root_id = tree LIMIT room);
      GET DIAGNOSTICS n = ROW_COUNT; asks_n := n; room := room - n;
    END IF;
    IF room > 0 THEN
      UPDATE subagent_runs SET cleaned_at = removed_at
      WHERE id IN (SELECT id FROM subagent_runs WHERE root_id = tree AND cleaned_at IS NULL LIMIT room);
      GET DIAGNOSTICS n = ROW_COUNT; room := room - n;
    END IF;
    IF room > 0 AND with_runs THEN
      DELETE FROM subagent_runs WHERE id IN (SELECT r.id FROM subagent_runs r WHERE r.root_id = tree
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered') LIMIT room);
      GET DIAGNOSTICS runs_n = ROW_COUNT; room := room - runs_n;
    END IF;
    is_done := room > 0;
    IF is_done THEN DELETE FROM trees WHERE root_id = tree; END IF;
  END IF;
  RETURN jsonb_build_object('done', is_done, 'removed', jsonb_build_object('agents', agents_n, 'messages', messages_n, 'mail', mail_n,
    'requests', requests_n, 'asks', asks_n, 'runs', runs_n));
END $$;

-- From job to job: those of one that is gone, and what lies behind the newest of one that is there.
CREATE OR REPLACE FUNCTION coppice_old_fires(since bigint, after_job text, after_instant bigint, after_manual boolean, keep bigint, most bigint)
RETURNS SETOF cron_fires LANGUAGE plpgsql AS $$
DECLARE job text; until bigint; room bigint := most; n bigint;
BEGIN
  SELECT min(f.job_id) INTO job FROM cron_fires f WHERE f.job_id >= after_job;
  WHILE job IS NOT NULL AND room > 0 LOOP
    PERFORM 1 FROM cron_jobs j WHERE j.id = job;
    IF FOUND THEN SELECT f.instant INTO until FROM cron_fires f WHERE f.job_id = job ORDER BY f.instant DESC OFFSET keep LIMIT 1;
    ELSE until := 9007199254740991; END IF;
    RETURN QUERY SELECT * FROM cron_fires f WHERE f.job_id = job AND f.instant <= until AND f.outcome <> 'queued' AND f.fired_at < since
      AND (f.job_id, f.instant, f.manual) > (after_job, after_instant, after_manual) ORDER BY f.instant, f.manual LIMIT room;
    GET DIAGNOSTICS n = ROW_COUNT;
    room := room - n;
    SELECT min(f.job_id) INTO job FROM cron_fires f WHERE f.job_id > job;
  END LOOP;
END $$;
`;
