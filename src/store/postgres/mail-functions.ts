/** Letters, and who is told of them, inside the database. */
export const MAIL_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_signal(to_worker text, own_worker text, about_agent text, signal_kind text, about_other text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF to_worker IS NULL OR to_worker IS NOT DISTINCT FROM own_worker THEN RETURN; END IF;
  INSERT INTO signals (worker, agent_id, kind, about) VALUES (to_worker, about_agent, signal_kind, about_other);
  PERFORM pg_notify('coppice_worker_' || to_worker, '');
END $$;

CREATE OR REPLACE FUNCTION coppice_tell_waiters(about_agent text, own_worker text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE unled text[];
BEGIN
  PERFORM coppice_signal(g.worker, own_worker, e.waiter, 'status', about_agent)
  FROM wait_edges e JOIN agents g ON g.id = e.waiter WHERE e.target = about_agent;
  SELECT array_agg(e.waiter) INTO unled FROM wait_edges e JOIN agents g ON g.id = e.waiter WHERE e.target = about_agent AND g.worker IS NULL;
  IF unled IS NOT NULL THEN PERFORM coppice_enter_unled(unled); END IF;
END $$;

CREATE OR REPLACE FUNCTION coppice_post(m jsonb, own_worker text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE letter_number bigint; holder text;
BEGIN
  UPDATE agents SET mail_count = mail_count + 1 WHERE id = m->>'to_id' RETURNING mail_count, worker INTO letter_number, holder;
  INSERT INTO mail (id, root_id, to_id, from_id, from_name, kind, body, number, sent_at)
  VALUES (m->>'id', m->>'root_id', m->>'to_id', m->>'from_id', m->>'from_name', m->>'kind', m->>'body', letter_number, (m->>'sent_at')::bigint);
  IF holder IS NULL THEN PERFORM coppice_enter_unled(ARRAY[m->>'to_id']); END IF;
  PERFORM coppice_signal(holder, own_worker, m->>'to_id', 'mail', NULL);
  PERFORM pg_notify('agent_event_' || (m->>'to_id'), 'mail');
  RETURN letter_number;
END $$;

CREATE OR REPLACE FUNCTION coppice_send(m jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE found_status text; there bigint; being_removed text;
BEGIN
  SELECT removal INTO being_removed FROM trees WHERE root_id = m->>'root_id' FOR UPDATE;
  SELECT number INTO there FROM mail WHERE id = m->>'id';
  IF FOUND THEN RETURN jsonb_build_object('number', there); END IF;
  SELECT status INTO found_status FROM agents WHERE id = m->>'to_id';
  IF NOT FOUND OR being_removed IS NOT NULL THEN RETURN '"unknown"'; END IF;
  IF coppice_is_terminal(found_status) THEN RETURN '"dead"'; END IF;
  RETURN jsonb_build_object('number', coppice_post(m, NULL));
END $$;

CREATE OR REPLACE FUNCTION coppice_send_all(letters jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE m jsonb; answers jsonb[] := '{}';
BEGIN
  -- As in coppice_commit: in one order by everybody.
  PERFORM 1 FROM trees WHERE root_id = ANY (ARRAY(SELECT x->>'root_id' FROM jsonb_array_elements(letters) x)) ORDER BY root_id FOR UPDATE;
  FOR m IN SELECT * FROM jsonb_array_elements(letters) LOOP
    answers := array_append(answers, coppice_send(m));
  END LOOP;
  RETURN to_jsonb(answers);
END $$;

CREATE OR REPLACE FUNCTION coppice_answer(ask text, a jsonb, m jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE there bigint; being_removed text;
BEGIN
  SELECT removal INTO being_removed FROM trees WHERE root_id = m->>'root_id' FOR UPDATE;
  IF being_removed IS NOT NULL THEN RETURN NULL; END IF;
  UPDATE asks SET verdict = a->>'verdict', scope = a->>'scope', note = a->>'note', answered_by = a->>'by', answered_at = (a->>'at')::bigint
  WHERE id = ask AND verdict IS NULL;
  IF FOUND THEN RETURN coppice_post(m, NULL); END IF;
  -- The very same answer again: that it was taken was lost on its way back.
  SELECT mail.number INTO there FROM mail, asks WHERE mail.id = m->>'id' AND asks.id = ask AND asks.verdict = a->>'verdict'
    AND asks.scope IS NOT DISTINCT FROM a->>'scope' AND asks.note IS NOT DISTINCT FROM a->>'note' AND asks.answered_by = a->>'by'
    AND asks.answered_at = (a->>'at')::bigint;
  RETURN there;
END $$;
`;
