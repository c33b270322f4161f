/** Schedules and what follows from their runs, inside the database. */
export const CRON_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_create_job(j jsonb, most bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  -- Jobs are made one after another, so that the limit of a tree holds.
  PERFORM pg_advisory_xact_lock(hashtext('coppice_cron_jobs'));
  PERFORM 1 FROM cron_jobs WHERE id = j->>'id';
  IF FOUND THEN RETURN 'there'; END IF;
  PERFORM 1 FROM cron_jobs WHERE name = j->>'name';
  IF FOUND THEN RETURN 'name'; END IF;
  IF most IS NOT NULL AND (SELECT count(*) FROM cron_jobs WHERE root_id = j->>'root_id' AND enabled) >= most THEN RETURN 'limit'; END IF;
  INSERT INTO cron_jobs (id, name, root_id, definition, enabled, next_at, planned_at, created_at, updated_at)
  VALUES (j->>'id', j->>'name', j->>'root_id', j->>'definition', (j->>'enabled')::boolean, (j->>'next_at')::bigint, (j->>'created_at')::bigint,
    (j->>'created_at')::bigint, (j->>'created_at')::bigint);
  RETURN 'created';
END $$;

CREATE OR REPLACE FUNCTION coppice_is_job_at_work(job text) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (SELECT 1 FROM subagent_runs WHERE job_id = job AND finished_at IS NULL) $$;

CREATE OR REPLACE FUNCTION coppice_fire_begin(b jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF b->>'type' = 'event' THEN
    PERFORM coppice_serve(b->'mail'->>'root_id');
    PERFORM coppice_post(b->'mail', NULL);
    RETURN NULL;
  END IF;
  PERFORM coppice_create_root(b->'root', b->>'limits', true, coalesce(b->'placement', '[]')::text);
  PERFORM coppice_post(b->'letter', NULL);
  RETURN b->'root'->'run'->>'id';
END $$;

CREATE OR REPLACE FUNCTION coppice_fire(f jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE j cron_jobs%ROWTYPE; waiting cron_fires%ROWTYPE; is_waiting boolean; begun text; verdict text; b jsonb := f->'begin';
  instant_at bigint := (f->>'instant')::bigint; by_hand boolean := (f->>'manual')::boolean; fire_at bigint := (f->>'at')::bigint;
BEGIN
  -- The tree of an event first: trees come before everything else in everybody's order of locks.
  IF b->>'type' = 'event' THEN PERFORM 1 FROM trees WHERE root_id = b->'mail'->>'root_id' FOR UPDATE; END IF;
  SELECT * INTO j FROM cron_jobs WHERE id = f->>'job_id' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'stale'; END IF;
  SELECT * INTO waiting FROM cron_fires WHERE job_id = j.id AND outcome = 'queued';
  is_waiting := FOUND;
  IF (f->>'waited')::boolean THEN
    IF NOT is_waiting OR waiting.instant <> instant_at OR waiting.manual <> by_hand OR coppice_is_job_at_work(j.id) THEN RETURN 'stale'; END IF;
    begun := coppice_fire_begin(b);
    UPDATE cron_fires SET outcome = 'fired', run_id = begun WHERE job_id = j.id AND instant = instant_at AND manual = by_hand;
    RETURN 'fired';
  END IF;
  IF NOT by_hand THEN
    IF NOT j.enabled OR j.version <> (f->>'version')::bigint OR j.next_at IS DISTINCT FROM (f->>'next_at')::bigint THEN RETURN 'stale'; END IF;
    UPDATE cron_jobs SET next_at = CASE WHEN (f->>'disable')::boolean THEN NULL ELSE (f->>'then_at')::bigint END, planned_at = fire_at,
      enabled = enabled AND NOT (f->>'disable')::boolean WHERE id = j.id;
  END IF;
  PERFORM 1 FROM cron_fires WHERE job_id = j.id AND instant = instant_at AND manual = by_hand;
  IF FOUND THEN RETURN 'stale'; END IF;
  verdict := CASE
    WHEN b->>'type' = 'event' THEN
      CASE WHEN EXISTS (SELECT 1 FROM agents g JOIN trees t ON t.root_id = g.root_id
        WHERE g.id = b->'mail'->>'to_id' AND NOT coppice_is_terminal(g.status) AND t.removal IS NULL) THEN 'fired' ELSE 'skipped' END
    WHEN NOT is_waiting AND NOT coppice_is_job_at_work(j.id) THEN 'fired'
    WHEN f->>'overlap' = 'queue' AND NOT is_waiting THEN 'queued'
    ELSE 'skipped' END;
  IF verdict = 'fired' THEN begun := coppice_fire_begin(b); END IF;
  INSERT INTO cron_fires (job_id, instant, manual, outcome, missed, run_id, fired_at)
  VALUES (j.id, instant_at, by_hand, verdict, (f->>'missed')::bigint, begun, fire_at);
  RETURN verdict;
END $$;

CREATE OR REPLACE FUNCTION coppice_clean_runs(clean_at bigint, most bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  FOR r IN SELECT x.agent_id, x.root_id, x.source FROM subagent_runs x
    WHERE x.cleanup = 'delete' AND x.finished_at IS NOT NULL AND x.cleaned_at IS NULL AND (x.source = 'cron' OR x.deliver <> '[]')
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = x.id AND d.status <> 'delivered')
      AND NOT EXISTS (SELECT 1 FROM mail m WHERE m.to_id = x.requester_id AND m.from_id = x.agent_id AND m.consumed_seq IS NULL)
    ORDER BY x.finished_at LIMIT most FOR UPDATE OF x SKIP LOCKED LOOP
    IF r.source = 'cron' THEN
      DELETE FROM wait_edges e USING agents g WHERE g.id = e.waiter AND g.root_id = r.root_id;
      PERFORM coppice_delete_conversation(g.id) FROM agents g WHERE g.root_id = r.root_id;
      DELETE FROM asks WHERE root_id = r.root_id;
      DELETE FROM trees WHERE root_id = r.root_id;
    ELSIF NOT EXISTS (SELECT 1 FROM agents WHERE parent_id = r.agent_id) THEN
      PERFORM coppice_delete_conversation(r.agent_id);
    END IF;
    UPDATE subagent_runs SET cleaned_at = clean_at WHERE agent_id = r.agent_id;
    RETURN NEXT r.agent_id;
  END LOOP;
END $$;
`;
