/** How agents come and go inside the database, with their rows in the run history and the outbox. */
export const AGENT_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_create(c jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE g jsonb := c->'agent'; r jsonb := c->'run'; base bigint := coalesce((g->'forked_from'->>'seq')::bigint, 0);
  begun boolean := coppice_is_working(g->>'status');
BEGIN
  INSERT INTO messages (agent_id, seq, kind, content, at)
  SELECT g->>'id', base + m.place, m.message->>'kind', m.message->>'content', (g->>'created_at')::bigint
  FROM jsonb_array_elements(c->'messages') WITH ORDINALITY AS m (message, place);
  INSERT INTO agents (id, root_id, parent_id, name, session_key, origin, depth, config, status, state, last_seq, forked_from, forked_seq,
    worker, created_at, updated_at)
  VALUES (g->>'id', g->>'root_id', g->>'parent_id', g->>'name', g->>'session_key', g->>'origin', (g->>'depth')::integer, g->>'config',
    g->>'status', g->>'state', base + jsonb_array_length(c->'messages'), g->'forked_from'->>'agent_id', (g->'forked_from'->>'seq')::bigint,
    g->>'worker', (g->>'created_at')::bigint, (g->>'created_at')::bigint);
  IF begun AND g->>'worker' IS NULL THEN PERFORM coppice_enter_unled(ARRAY[g->>'id']); END IF;
  IF r IS NOT NULL THEN
    INSERT INTO subagent_runs (id, root_id, agent_id, source, session_key, requester_id, requester_key, task, label, model, thinking,
      timeout_ms, cleanup, status, created_at, started_at, deliver, job_id)
    VALUES (r->>'id', g->>'root_id', g->>'id', r->>'source', r->>'session_key', r->>'requester_id', r->>'requester_key', r->>'task',
      r->>'label', r->>'model', r->>'thinking', (r->>'timeout_ms')::bigint, r->>'cleanup', CASE WHEN begun THEN 'running' ELSE 'queued' END,
      (g->>'created_at')::bigint, CASE WHEN begun THEN (g->>'created_at')::bigint END, coalesce(r->'deliver', '[]')::text, r->>'job_id');
  END IF;
END $$;

CREATE OR REPLACE FUNCTION coppice_create_root(c jsonb, tree_limits text, is_served boolean, tree_placement text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trees (root_id, limits, live, total, served, placement)
  VALUES (c->'agent'->>'id', tree_limits, 1, 1, is_served, tree_placement) ON CONFLICT DO NOTHING;
  -- There already: that it was made was lost on its way back.
  IF FOUND THEN PERFORM coppice_create(c); END IF;
END $$;

-- Its end enters the outbox with it, whoever ended it.
CREATE OR REPLACE FUNCTION coppice_finish_run(ended_agent text, run jsonb, ended_at bigint) RETURNS void LANGUAGE sql AS $$
  WITH ended AS (
    UPDATE subagent_runs SET status = run->>'status', result = run->>'result', error = run->>'error', finished_at = ended_at,
      duration_ms = greatest(0, ended_at - coalesce(started_at, ended_at)) WHERE agent_id = ended_agent AND finished_at IS NULL
    RETURNING id, root_id, agent_id, deliver
  )
  INSERT INTO deliveries (id, kind, target, channel, root_id, agent_id, about, created_at, next_at)
  SELECT 'run-' || e.id || '-' || (t.place - 1), 'run', t.target, split_part(t.target, ':', 1), e.root_id, e.agent_id, e.id, ended_at, ended_at
  FROM ended e, jsonb_array_elements_text(e.deliver::jsonb) WITH ORDINALITY AS t (target, place)
  ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION coppice_enter_delivery(d jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO deliveries (id, kind, target, channel, root_id, agent_id, about, body, created_at, next_at)
  VALUES (d->>'id', d->>'kind', d->>'target', split_part(d->>'target', ':', 1), d->>'root_id', d->>'agent_id', d->>'about', d->>'body',
    (d->>'created_at')::bigint, (d->>'created_at')::bigint)
  ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION coppice_delete_conversation(gone text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM messages WHERE agent_id = gone;
  DELETE FROM mail WHERE to_id = gone;
  DELETE FROM requests WHERE agent_id = gone;
  PERFORM coppice_leave_unled(ARRAY[gone]);
  DELETE FROM agents WHERE id = gone;
END $$;

CREATE OR REPLACE FUNCTION coppice_kill(target_id text, killer text, kill_at bigint, own_worker text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE doomed text[]; target agents%ROWTYPE; r record; content text; others text; tree_id text;
BEGIN
  SELECT root_id INTO tree_id FROM agents WHERE id = target_id;
  PERFORM 1 FROM trees WHERE root_id = tree_id FOR UPDATE;
  SELECT * INTO target FROM agents WHERE id = target_id FOR UPDATE;
  IF NOT FOUND OR coppice_is_terminal(target.status) THEN RETURN '[]'; END IF;
  WITH RECURSIVE below (id, status) AS (
    SELECT target_id, target.status UNION ALL SELECT g.id, g.status FROM agents g JOIN below ON g.parent_id = below.id
  )
  SELECT array_agg(id) INTO doomed FROM below WHERE NOT coppice_is_terminal(status);
  others := CASE array_length(doomed, 1) - 1 WHEN 1 THEN '1 descendant' ELSE (array_length(doomed, 1) - 1) || ' descendants' END;
  content := jsonb_build_object('event', 'killed', 'text', 'kill event: ' || target.name || ' by ' || killer || ', ' || others,
    'data', jsonb_build_object('by', killer, 'target', target_id, 'target_name', target.name, 'descendants', array_length(doomed, 1) - 1))::text;
  FOR r IN SELECT id, parent_id, root_id, origin, name, worker FROM agents WHERE id = ANY (doomed) ORDER BY id FOR UPDATE LOOP
    UPDATE agents SET status = 'killed', state = jsonb_build_object('type', 'killed', 'by', killer)::text, epoch = epoch + 1, worker = NULL,
      doing = NULL, last_seq = last_seq + 1, updated_at = kill_at, ended_at = kill_at WHERE id = r.id;
    INSERT INTO messages (agent_id, seq, kind, content, at) SELECT r.id, g.last_seq, 'event', content, kill_at FROM agents g WHERE g.id = r.id;
    DELETE FROM wait_edges WHERE waiter = r.id;
    UPDATE asks SET verdict = 'void', answered_at = kill_at WHERE agent_id = r.id AND verdict IS NULL;
    IF r.origin IN ('session', 'delegate', 'cron') THEN
      PERFORM coppice_finish_run(r.id, jsonb_build_object('status', 'cancelled', 'error', 'Killed by ' || killer), kill_at);
    END IF;
    UPDATE agents SET living_children = living_children - 1 WHERE id = r.parent_id;
    PERFORM coppice_signal(r.worker, own_worker, r.id, 'killed', NULL);
    PERFORM coppice_tell_waiters(r.id, own_worker);
    PERFORM pg_notify('agent_event_' || r.id, 'killed');
    IF r.origin NOT IN ('root', 'fork') AND NOT r.parent_id = ANY (doomed)
       AND EXISTS (SELECT 1 FROM agents p WHERE p.id = r.parent_id AND NOT coppice_is_terminal(p.status)) THEN
      PERFORM coppice_post(jsonb_build_object('id', 'killed-' || r.id, 'root_id', r.root_id, 'to_id', r.parent_id, 'from_id', r.id,
        'from_name', r.name, 'kind', CASE r.origin WHEN 'session' THEN 'announce' ELSE 'outcome' END, 'sent_at', kill_at,
        'body', jsonb_build_object('agent_id', r.id, 'outcome',
          jsonb_build_object('type', 'failure', 'error', 'Killed by ' || killer, 'error_kind', 'killed'))::text), NULL);
    END IF;
  END LOOP;
  UPDATE trees SET live = live - array_length(doomed, 1) WHERE root_id = tree_id;
  PERFORM coppice_leave_unled(doomed);
  RETURN to_jsonb(doomed);
END $$;
`;
