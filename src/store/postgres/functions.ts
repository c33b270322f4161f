/**
 * The steps of the contract inside the database, so that a group commit is one round trip. Arguments are JSON; contents of messages
 * and states travel as texts in it. Each guard is checked before a step's first write, as in the SQLite adapter.
 */
export const FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_is_terminal(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT status IN ('completed', 'failed', 'killed') $$;

CREATE OR REPLACE FUNCTION coppice_is_working(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting') $$;

-- A call runs in a process, and is not parked in the ledger.
CREATE OR REPLACE FUNCTION coppice_runs_call(state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT EXISTS (SELECT 1 FROM jsonb_array_elements(state::jsonb->'running') r
  WHERE r->'wait' IS NULL AND r->'child' IS NULL AND (r->'ask' IS NULL OR r->>'approved' = 'true')) $$;

CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE OR REPLACE FUNCTION coppice_signal(to_worker text, own_worker text, about_agent text, signal_kind text, about_other text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF to_worker IS NULL OR to_worker IS NOT DISTINCT FROM own_worker THEN RETURN; END IF;
  INSERT INTO signals (worker, agent_id, kind, about) VALUES (to_worker, about_agent, signal_kind, about_other);
  PERFORM pg_notify('coppice_worker_' || to_worker, '');
END $$;

CREATE OR REPLACE FUNCTION coppice_tell_waiters(about_agent text, own_worker text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM coppice_signal(g.worker, own_worker, e.waiter, 'status', about_agent)
  FROM wait_edges e JOIN agents g ON g.id = e.waiter WHERE e.target = about_agent;
END $$;

CREATE OR REPLACE FUNCTION coppice_post(m jsonb, own_worker text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE letter_number bigint; holder text;
BEGIN
  UPDATE agents SET mail_count = mail_count + 1 WHERE id = m->>'to_id' RETURNING mail_count, worker INTO letter_number, holder;
  INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at)
  VALUES (m->>'id', m->>'root_id', m->>'to_id', m->>'from_id', m->>'from_name', m->>'kind', m->>'body', letter_number, (m->>'sent_at')::bigint);
  PERFORM coppice_signal(holder, own_worker, m->>'to_id', 'mail', NULL);
  PERFORM pg_notify('agent_event_' || (m->>'to_id'), 'mail');
  RETURN letter_number;
END $$;

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
  IF r IS NOT NULL THEN
    INSERT INTO subagent_runs (id, root_id, agent_id, source, session_key, requester_id, requester_key, task, label, model, thinking,
      timeout_ms, cleanup, status, created_at, started_at, deliver, job_id)
    VALUES (r->>'id', g->>'root_id', g->>'id', r->>'source', r->>'session_key', r->>'requester_id', r->>'requester_key', r->>'task',
      r->>'label', r->>'model', r->>'thinking', (r->>'timeout_ms')::bigint, r->>'cleanup', CASE WHEN begun THEN 'running' ELSE 'queued' END,
      (g->>'created_at')::bigint, CASE WHEN begun THEN (g->>'created_at')::bigint END, coalesce(r->'deliver', '[]')::text, r->>'job_id');
  END IF;
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
  DELETE FROM agents WHERE id = gone;
END $$;

CREATE OR REPLACE FUNCTION coppice_kill(target_id text, killer text, kill_at bigint, own_worker text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE doomed text[]; target agents%ROWTYPE; r record; content text; others text; tree_id text;
BEGIN
  SELECT root_id INTO tree_id FROM agents WHERE id = target_id;
  PERFORM 1 FROM trees WHERE root_id = tree_id FOR UPDATE;
  SELECT * INTO target FROM agents WHERE id = target_id FOR UPDATE;
  IF NOT FOUND OR coppice_is_terminal(target.status) THEN RETURN '[]'; END IF;
  WITH RECURSIVE below (id) AS (
    SELECT target_id UNION ALL SELECT g.id FROM agents g JOIN below ON g.parent_id = below.id
  )
  SELECT array_agg(g.id) INTO doomed FROM below JOIN agents g ON g.id = below.id WHERE NOT coppice_is_terminal(g.status);
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
  RETURN to_jsonb(doomed);
END $$;

CREATE OR REPLACE FUNCTION coppice_limit(limit_name text, allowed bigint, present bigint) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
$$ SELECT jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'limit', 'limit', limit_name, 'allowed', allowed, 'present', present)) $$;

CREATE OR REPLACE FUNCTION coppice_guards(s jsonb, a agents, t trees) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE n bigint := jsonb_array_length(s->'create'); l jsonb; r record;
  fresh text[] := ARRAY(SELECT c->'agent'->>'id' FROM jsonb_array_elements(s->'create') c);
BEGIN
  -- Law 7.
  IF n > 0 THEN
    l := t.limits::jsonb;
    IF a.depth + 1 > (l->>'depth')::bigint THEN RETURN coppice_limit('depth', (l->>'depth')::bigint, a.depth); END IF;
    IF a.living_children + n > (l->>'children')::bigint THEN RETURN coppice_limit('children', (l->>'children')::bigint, a.living_children); END IF;
    IF t.live + n > (l->>'live')::bigint THEN RETURN coppice_limit('live', (l->>'live')::bigint, t.live); END IF;
    IF t.total + n > (l->>'total')::bigint THEN RETURN coppice_limit('total', (l->>'total')::bigint, t.total); END IF;
  END IF;
  IF jsonb_array_length(s->'send') > 0 THEN
    FOR r IN SELECT m->>'to_id' AS id, g.id IS NULL AS unknown FROM jsonb_array_elements(s->'send') m
      LEFT JOIN agents g ON g.id = m->>'to_id' AND g.root_id = a.root_id
      WHERE (g.id IS NULL OR coppice_is_terminal(g.status)) AND NOT m->>'to_id' = ANY (fresh) LIMIT 1 LOOP
      RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'recipient', 'agent_id', r.id,
        'found', CASE WHEN r.unknown THEN 'unknown' ELSE 'dead' END));
    END LOOP;
  END IF;
  -- Law 6.
  IF jsonb_array_length(s->'consume') > 0 THEN
    FOR r IN SELECT c->>'mail_id' AS id FROM jsonb_array_elements(s->'consume') c
      LEFT JOIN mail ON mail.id = c->>'mail_id' AND mail.to_id = a.id AND mail.consumed_seq IS NULL WHERE mail.id IS NULL LIMIT 1 LOOP
      RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'consumed', 'mail_id', r.id));
    END LOOP;
  END IF;
  -- Law 10.
  IF jsonb_typeof(s->'waits_for') = 'array' AND jsonb_array_length(s->'waits_for') > 0 THEN
    FOR r IN WITH RECURSIVE walk (id, path) AS (
        SELECT target, ARRAY[a.id, target] FROM jsonb_array_elements_text(s->'waits_for') AS target
        UNION ALL
        SELECT e.target, walk.path || e.target FROM walk JOIN wait_edges e ON e.waiter = walk.id
        WHERE walk.id <> a.id AND (e.target = a.id OR NOT e.target = ANY (walk.path))
      ) SELECT path FROM walk WHERE id = a.id LIMIT 1 LOOP
      RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'cycle', 'path', to_jsonb(r.path)));
    END LOOP;
  END IF;
  FOR r IN SELECT target FROM jsonb_array_elements_text(s->'kill') AS target WHERE target = a.id OR NOT EXISTS (
      WITH RECURSIVE up (id, parent_id) AS (
        SELECT g.id, g.parent_id FROM agents g WHERE g.id = target
        UNION ALL SELECT g.id, g.parent_id FROM agents g JOIN up ON g.id = up.parent_id
      ) SELECT 1 FROM up WHERE up.parent_id = a.id) LIMIT 1 LOOP
    RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'target', 'agent_id', r.target));
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION coppice_step(s jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a agents%ROWTYPE; t trees%ROWTYPE; refused jsonb; m jsonb; q jsonb; n bigint; step_at bigint := (s->>'at')::bigint;
  new_status text := s->>'status'; sent jsonb[] := '{}'; killed jsonb := '[]'; used record;
BEGIN
  SELECT * INTO a FROM agents WHERE id = s->>'agent_id' FOR UPDATE;
  -- Law 8.
  IF NOT FOUND OR a.epoch <> (s->>'epoch')::bigint OR a.last_seq <> (s->>'base_seq')::bigint OR coppice_is_terminal(a.status)
    -- Offered again by a writer who was not told: of a step without messages only what it makes shows that it was applied.
    OR (jsonb_array_length(s->'messages') = 0 AND (EXISTS (SELECT 1 FROM agents g JOIN jsonb_array_elements(s->'create') child ON g.id = child->'agent'->>'id') OR EXISTS (SELECT 1 FROM mail JOIN jsonb_array_elements(s->'send') letter ON mail.id = letter->>'id'))) THEN
    RETURN '{"ok": false, "refusal": {"reason": "stale"}}';
  END IF;
  SELECT * INTO t FROM trees WHERE root_id = a.root_id;
  refused := coppice_guards(s, a, t);
  IF refused IS NOT NULL THEN RETURN refused; END IF;
  n := jsonb_array_length(s->'messages');
  IF n > 0 THEN
    INSERT INTO messages (agent_id, seq, kind, content, at)
    SELECT a.id, a.last_seq + x.place, x.message->>'kind', x.message->>'content', step_at
    FROM jsonb_array_elements(s->'messages') WITH ORDINALITY AS x (message, place);
  END IF;
  SELECT coalesce(sum((x->>'input')::bigint), 0) AS input, coalesce(sum((x->>'output')::bigint), 0) AS output,
    coalesce(sum((x->>'cached')::bigint), 0) AS cached, coalesce(sum((x->>'reasoning')::bigint), 0) AS reasoning,
    sum((x->>'cost_usd')::double precision) AS cost INTO used FROM jsonb_array_elements(s->'requests') x;
  UPDATE agents SET status = new_status, state = s->>'state', last_seq = a.last_seq + n, doing = s->>'doing', reply = s->>'reply',
    sent_this_turn = (s->>'sent_this_turn')::boolean, noticed = (s->>'noticed')::bigint, calls = calls + (s->>'calls')::bigint, updated_at = step_at,
    input_tokens = input_tokens + used.input, output_tokens = output_tokens + used.output, cached_tokens = cached_tokens + used.cached,
    reasoning_tokens = reasoning_tokens + used.reasoning,
    cost_usd = CASE WHEN used.cost IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + used.cost END,
    living_children = living_children + jsonb_array_length(s->'create'),
    worker = CASE WHEN coppice_is_terminal(new_status) THEN NULL ELSE worker END,
    deaths = CASE WHEN coppice_is_working(new_status) THEN deaths ELSE 0 END,
    ended_at = CASE WHEN coppice_is_terminal(new_status) THEN step_at ELSE ended_at END
  WHERE id = a.id;
  FOR q IN SELECT * FROM jsonb_array_elements(s->'requests') LOOP
    INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
    VALUES (a.id, q->>'model', (q->>'input')::bigint, (q->>'output')::bigint, (q->>'cached')::bigint, (q->>'reasoning')::bigint,
      (q->>'cost_usd')::double precision, (q->>'started_at')::bigint, (q->>'duration_ms')::bigint);
  END LOOP;
  PERFORM coppice_create(c) FROM jsonb_array_elements(s->'create') c;
  UPDATE mail SET consumed_seq = (c->>'seq')::bigint FROM jsonb_array_elements(s->'consume') c WHERE mail.id = c->>'mail_id';
  FOR m IN SELECT * FROM jsonb_array_elements(s->'send') LOOP
    sent := array_append(sent, to_jsonb(coppice_post(m, a.worker)));
  END LOOP;
  IF jsonb_typeof(s->'waits_for') = 'array' OR coppice_is_terminal(new_status) THEN DELETE FROM wait_edges WHERE waiter = a.id; END IF;
  IF jsonb_typeof(s->'waits_for') = 'array' AND NOT coppice_is_terminal(new_status) THEN
    INSERT INTO wait_edges (waiter, target) SELECT a.id, target FROM jsonb_array_elements_text(s->'waits_for') AS target ON CONFLICT DO NOTHING;
  END IF;
  n := jsonb_array_length(s->'create');
  UPDATE trees SET live = live + n - CASE WHEN coppice_is_terminal(new_status) THEN 1 ELSE 0 END, total = total + n,
    tokens = tokens + used.input + used.output, cost_usd = cost_usd + coalesce(used.cost, 0) WHERE root_id = a.root_id;
  IF coppice_is_terminal(new_status) AND a.parent_id IS NOT NULL THEN
    UPDATE agents SET living_children = living_children - 1 WHERE id = a.parent_id;
  END IF;
  IF a.origin IN ('session', 'delegate', 'cron') THEN
    IF s->'run' IS NOT NULL THEN
      PERFORM coppice_finish_run(a.id, s->'run', step_at);
    ELSIF a.status = 'idle' AND coppice_is_working(new_status) THEN
      UPDATE subagent_runs SET status = 'running', started_at = step_at WHERE agent_id = a.id AND started_at IS NULL;
    END IF;
  END IF;
  IF coppice_is_working(a.status) AND NOT coppice_is_working(new_status) THEN PERFORM coppice_tell_waiters(a.id, a.worker); END IF;
  IF jsonb_array_length(s->'kill') > 0 THEN
    SELECT coalesce(jsonb_agg(dead.id), '[]') INTO killed FROM jsonb_array_elements_text(s->'kill') AS target,
      LATERAL jsonb_array_elements(coppice_kill(target, a.name, step_at, a.worker)) AS dead (id);
  END IF;
  INSERT INTO asks (id, root_id, agent_id, agent_name, call_id, tool, subject, input, cwd, rule, asked_at)
  SELECT k->>'id', k->>'root_id', k->>'agent_id', k->>'agent_name', k->>'call_id', k->>'tool', k->>'subject', k->>'input', k->>'cwd',
    k->>'rule', (k->>'asked_at')::bigint FROM jsonb_array_elements(s->'asks') k;
  UPDATE asks SET verdict = 'void', answered_at = step_at FROM jsonb_array_elements_text(s->'void_asks') AS gone (id)
  WHERE asks.id = gone.id AND asks.verdict IS NULL;
  FOR q IN SELECT * FROM jsonb_array_elements(s->'remove') LOOP
    PERFORM 1 FROM agents g WHERE g.id = q #>> '{}' AND g.parent_id = a.id AND coppice_is_terminal(g.status)
      AND NOT EXISTS (SELECT 1 FROM agents below WHERE below.parent_id = g.id);
    IF FOUND THEN
      PERFORM coppice_delete_conversation(q #>> '{}');
      UPDATE subagent_runs SET cleaned_at = step_at WHERE agent_id = q #>> '{}' AND cleaned_at IS NULL;
    END IF;
  END LOOP;
  PERFORM coppice_enter_delivery(d) FROM jsonb_array_elements(s->'deliver') d;
  SELECT * INTO t FROM trees WHERE root_id = a.root_id;
  RETURN jsonb_build_object('ok', true, 'killed', killed, 'sent', to_jsonb(sent), 'tree', jsonb_build_object('root_id', t.root_id,
    'limits', t.limits::jsonb, 'live', t.live, 'total', t.total, 'tokens', t.tokens, 'cost_usd', t.cost_usd));
END $$;

CREATE OR REPLACE FUNCTION coppice_commit(steps jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE s jsonb; verdicts jsonb[] := '{}';
BEGIN
  -- Trees are locked in one order by everybody: budgets, creations and kills of a tree follow one another.
  PERFORM 1 FROM trees WHERE root_id IN (
    SELECT g.root_id FROM jsonb_array_elements(steps) x JOIN agents g ON g.id = x->>'agent_id') ORDER BY root_id FOR UPDATE;
  FOR s IN SELECT * FROM jsonb_array_elements(steps) LOOP
    verdicts := array_append(verdicts, coppice_step(s));
  END LOOP;
  RETURN to_jsonb(verdicts);
END $$;

CREATE OR REPLACE FUNCTION coppice_send(m jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE found_status text; there bigint;
BEGIN
  PERFORM 1 FROM trees WHERE root_id = m->>'root_id' FOR UPDATE;
  SELECT number INTO there FROM mail WHERE id = m->>'id';
  IF FOUND THEN RETURN jsonb_build_object('number', there); END IF;
  SELECT status INTO found_status FROM agents WHERE id = m->>'to_id';
  IF NOT FOUND THEN RETURN '"unknown"'; END IF;
  IF coppice_is_terminal(found_status) THEN RETURN '"dead"'; END IF;
  RETURN jsonb_build_object('number', coppice_post(m, NULL));
END $$;

CREATE OR REPLACE FUNCTION coppice_answer(ask text, a jsonb, m jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM trees WHERE root_id = m->>'root_id' FOR UPDATE;
  UPDATE asks SET verdict = a->>'verdict', scope = a->>'scope', note = a->>'note', answered_by = a->>'by', answered_at = (a->>'at')::bigint
  WHERE id = ask AND verdict IS NULL;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN coppice_post(m, NULL);
END $$;
`;
