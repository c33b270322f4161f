import { isAtRest } from '../unread.ts';

/**
 * The steps of the contract inside the database, so that a group commit is one round trip. Arguments are JSON; contents of messages
 * and states travel as texts in it. Each guard is checked before a step's first write, as in the SQLite adapter.
 */
export const STEP_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_limit(limit_name text, allowed bigint, present bigint) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
$$ SELECT jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'limit', 'limit', limit_name, 'allowed', allowed, 'present', present)) $$;

CREATE OR REPLACE FUNCTION coppice_guards(s jsonb, a agents, t trees) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE n bigint := jsonb_array_length(s->'create'); l jsonb; r record; busy bigint; came jsonb := '{}'; path text[];
  fresh text[] := ARRAY(SELECT c->'agent'->>'id' FROM jsonb_array_elements(s->'create') c);
BEGIN
  -- Law 7.
  IF n > 0 THEN
    l := t.limits::jsonb;
    IF a.depth + 1 > (l->>'depth')::bigint THEN RETURN coppice_limit('depth', (l->>'depth')::bigint, a.depth); END IF;
    -- Who rests holds no place; they are counted only when there seems to be none.
    IF a.living_children + n > (l->>'children')::bigint THEN
      SELECT a.living_children - count(*) INTO busy FROM agents g WHERE g.parent_id = a.id AND ${isAtRest('g')};
      IF busy + n > (l->>'children')::bigint THEN RETURN coppice_limit('children', (l->>'children')::bigint, busy); END IF;
    END IF;
    IF t.live + n > (l->>'live')::bigint THEN
      SELECT t.live - count(*) INTO busy FROM agents g WHERE g.root_id = a.root_id AND ${isAtRest('g')};
      IF busy + n > (l->>'live')::bigint THEN RETURN coppice_limit('live', (l->>'live')::bigint, busy); END IF;
    END IF;
    IF t.total + n > (l->>'total')::bigint THEN RETURN coppice_limit('total', (l->>'total')::bigint, t.total); END IF;
  END IF;
  -- One look by key for each letter, whatever the planner thinks of their number.
  FOR r IN SELECT * FROM (
      SELECT m->>'to_id' AS id, coalesce((SELECT CASE WHEN g.root_id <> a.root_id THEN 'unknown' WHEN coppice_is_terminal(g.status) THEN 'dead' ELSE 'alive' END
        FROM agents g WHERE g.id = m->>'to_id'), 'unknown') AS fate
      FROM jsonb_array_elements(s->'send') m WHERE NOT m->>'to_id' = ANY (fresh)
    ) AS recipient WHERE fate <> 'alive' LIMIT 1 LOOP
    RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'recipient', 'agent_id', r.id, 'found', r.fate));
  END LOOP;
  -- Law 6.
  FOR r IN SELECT c->>'mail_id' AS id FROM jsonb_array_elements(s->'consume') c
    WHERE (SELECT mail.to_id = a.id AND mail.consumed_seq IS NULL FROM mail WHERE mail.id = c->>'mail_id') IS NOT TRUE LIMIT 1 LOOP
    RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'consumed', 'mail_id', r.id));
  END LOOP;
  -- Law 10: along waits that last at least as long as the one that closes the cycle. Each agent is looked at once: ways between many that wait for each
  -- other are without number. The wait that ends soonest reaches the most, so it goes first.
  IF jsonb_typeof(s->'waits_for') = 'array' AND jsonb_array_length(s->'waits_for') > 0 THEN
    FOR r IN SELECT (s->'waits_until'->>target)::bigint AS until, jsonb_object_agg(target, a.id) AS targets
      FROM jsonb_array_elements_text(s->'waits_for') AS target GROUP BY 1 ORDER BY 1 NULLS LAST LOOP
      l := r.targets;
      WHILE l <> '{}' LOOP
        came := l || came;
        IF came ? a.id THEN
          path := ARRAY[a.id];
          LOOP
            path := (came->>path[1]) || path;
            EXIT WHEN path[1] = a.id;
          END LOOP;
          RETURN jsonb_build_object('ok', false, 'refusal', jsonb_build_object('reason', 'cycle', 'path', to_jsonb(path)));
        END IF;
        -- OFFSET 0 keeps it a look by key for each agent on the way.
        SELECT coalesce(jsonb_object_agg(e.target, k.id), '{}') INTO l
        FROM jsonb_object_keys(l) AS k (id), LATERAL (SELECT target, until FROM wait_edges WHERE waiter = k.id OFFSET 0) AS e
        WHERE (e.until IS NULL OR e.until >= r.until) AND NOT came ? e.target;
      END LOOP;
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

CREATE OR REPLACE FUNCTION coppice_is_there(s jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE made text;
BEGIN
  FOR made IN SELECT c->'agent'->>'id' FROM jsonb_array_elements(s->'create') c LOOP
    PERFORM 1 FROM agents WHERE id = made;
    IF FOUND THEN RETURN true; END IF;
  END LOOP;
  FOR made IN SELECT m->>'id' FROM jsonb_array_elements(s->'send') m LOOP
    PERFORM 1 FROM mail WHERE id = made;
    IF FOUND THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

CREATE OR REPLACE FUNCTION coppice_step(s jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a agents%ROWTYPE; t trees%ROWTYPE; refused jsonb; m jsonb; q jsonb; n bigint; step_at bigint := (s->>'at')::bigint;
  new_status text := s->>'status'; sent jsonb[] := '{}'; killed jsonb := '[]'; used record;
BEGIN
  SELECT * INTO a FROM agents WHERE id = s->>'agent_id' FOR UPDATE;
  -- Law 8. A step without messages leaves the seq as it was: then its token, or what it makes, tells that it was applied before.
  IF NOT FOUND OR a.epoch <> (s->>'epoch')::bigint OR a.last_seq <> (s->>'base_seq')::bigint OR coppice_is_terminal(a.status)
     OR a.last_write = s->>'token' OR (s->>'token' IS NOT NULL AND coppice_is_there(s)) THEN
    RETURN '{"ok": false, "refusal": {"reason": "stale"}}';
  END IF;
  SELECT * INTO t FROM trees WHERE root_id = a.root_id;
  IF t.removal IS NOT NULL THEN RETURN '{"ok": false, "refusal": {"reason": "stale"}}'; END IF;
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
    config = coalesce(s->>'config', config),
    last_write = coalesce(s->>'token', last_write), deaths = CASE WHEN coppice_is_working(new_status) THEN deaths ELSE 0 END,
    worker = CASE WHEN coppice_is_terminal(new_status) THEN NULL ELSE worker END,
    ended_at = CASE WHEN coppice_is_terminal(new_status) THEN step_at ELSE ended_at END
  WHERE id = a.id;
  FOR q IN SELECT * FROM jsonb_array_elements(s->'requests') LOOP
    INSERT INTO requests (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
    VALUES (a.id, q->>'model', (q->>'input')::bigint, (q->>'output')::bigint, (q->>'cached')::bigint, (q->>'reasoning')::bigint,
      (q->>'cost_usd')::double precision, (q->>'started_at')::bigint, (q->>'duration_ms')::bigint);
  END LOOP;
  PERFORM coppice_create(c) FROM jsonb_array_elements(s->'create') c;
  FOR q IN SELECT * FROM jsonb_array_elements(s->'consume') LOOP
    UPDATE mail SET consumed_seq = (q->>'seq')::bigint WHERE id = q->>'mail_id';
  END LOOP;
  FOR m IN SELECT * FROM jsonb_array_elements(s->'send') LOOP
    sent := array_append(sent, to_jsonb(coppice_post(m, a.worker)));
  END LOOP;
  IF jsonb_typeof(s->'waits_for') = 'array' OR coppice_is_terminal(new_status) THEN DELETE FROM wait_edges WHERE waiter = a.id; END IF;
  IF jsonb_typeof(s->'waits_for') = 'array' AND NOT coppice_is_terminal(new_status) THEN
    INSERT INTO wait_edges (waiter, target, until) SELECT a.id, target, (s->'waits_until'->>target)::bigint
    FROM jsonb_array_elements_text(s->'waits_for') AS target ON CONFLICT DO NOTHING;
  END IF;
  n := jsonb_array_length(s->'create');
  IF n > 0 OR coppice_is_terminal(new_status) OR jsonb_array_length(s->'requests') > 0 THEN
    UPDATE trees SET live = live + n - CASE WHEN coppice_is_terminal(new_status) THEN 1 ELSE 0 END, total = total + n,
      tokens = tokens + used.input + used.output, cost_usd = cost_usd + coalesce(used.cost, 0) WHERE root_id = a.root_id;
  END IF;
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
  IF NOT coppice_is_working(new_status) THEN PERFORM coppice_tell_waiters(a.id, a.worker); END IF;
  IF jsonb_array_length(s->'kill') > 0 THEN
    SELECT coalesce(jsonb_agg(dead.id), '[]') INTO killed FROM jsonb_array_elements_text(s->'kill') AS target,
      LATERAL jsonb_array_elements(coppice_kill(target, a.name, step_at, a.worker)) AS dead (id);
  END IF;
  INSERT INTO asks (id, root_id, agent_id, agent_name, call_id, tool, subject, input, difference, cwd, rule, asked_at)
  SELECT k->>'id', k->>'root_id', k->>'agent_id', k->>'agent_name', k->>'call_id', k->>'tool', k->>'subject', k->>'input', k->>'difference', k->>'cwd',
    k->>'rule', (k->>'asked_at')::bigint FROM jsonb_array_elements(s->'asks') k;
  UPDATE asks SET verdict = 'void', answered_at = step_at
  WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(s->'void_asks'))) AND verdict IS NULL;
  FOR q IN SELECT * FROM jsonb_array_elements(s->'remove') LOOP
    PERFORM 1 FROM agents g WHERE g.id = q #>> '{}' AND g.parent_id = a.id AND coppice_is_terminal(g.status)
      AND NOT EXISTS (SELECT 1 FROM agents below WHERE below.parent_id = g.id);
    IF FOUND THEN
      PERFORM coppice_delete_conversation(q #>> '{}');
      UPDATE subagent_runs SET cleaned_at = step_at WHERE agent_id = q #>> '{}' AND cleaned_at IS NULL;
    END IF;
  END LOOP;
  PERFORM coppice_enter_delivery(d) FROM jsonb_array_elements(s->'deliver') d;
  IF a.worker IS NULL THEN
    PERFORM coppice_leave_unled(ARRAY[a.id]);
    PERFORM coppice_enter_unled(ARRAY[a.id]);
  END IF;
  SELECT * INTO t FROM trees WHERE root_id = a.root_id;
  RETURN jsonb_build_object('ok', true, 'killed', killed, 'sent', to_jsonb(sent), 'tree', jsonb_build_object('root_id', t.root_id,
    'limits', t.limits::jsonb, 'live', t.live, 'total', t.total, 'tokens', t.tokens, 'cost_usd', t.cost_usd));
END $$;

CREATE OR REPLACE FUNCTION coppice_commit(steps jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE s jsonb; verdicts jsonb[] := '{}';
BEGIN
  -- Trees are locked in one order by everybody: budgets, creations and kills of a tree follow one another.
  PERFORM 1 FROM trees WHERE root_id = ANY (ARRAY(
    SELECT (SELECT g.root_id FROM agents g WHERE g.id = x->>'agent_id') FROM jsonb_array_elements(steps) x)) ORDER BY root_id FOR UPDATE;
  FOR s IN SELECT * FROM jsonb_array_elements(steps) LOOP
    verdicts := array_append(verdicts, coppice_step(s));
  END LOOP;
  RETURN to_jsonb(verdicts);
END $$;
`;
