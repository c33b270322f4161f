import type pg from 'pg';

/** One step as it reached the ledger, whoever made it. */
export interface LoggedStep {
  /** Milliseconds since the epoch, by the database's clock. */
  readonly at: number;
  readonly agent_id: string;
  readonly root_id: string | null;
  readonly epoch: number;
  /** The agent's before the step; null: there is no such agent. */
  readonly found_epoch: number | null;
  readonly worker: string | null;
  /** Somebody must go on with the agent after the step: it asks its model, or a call runs in a process. */
  readonly at_work: boolean;
  readonly ok: boolean;
  readonly reason: string | null;
  readonly created: number;
}

/**
 * Lets the database itself write down every step that is handed to it, taken or refused, in the transaction of the step: what the processes
 * say of themselves is not asked.
 */
export async function logSteps(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE chaos_steps (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, agent_id text NOT NULL, root_id text, epoch bigint NOT NULL,
      found_epoch bigint, worker text, at_work boolean NOT NULL, ok boolean NOT NULL, reason text, created integer NOT NULL, consumed jsonb NOT NULL);
    ALTER FUNCTION coppice_step(jsonb) RENAME TO coppice_step_unlogged;
    CREATE FUNCTION coppice_step(s jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
    DECLARE before agents%ROWTYPE; verdict jsonb;
    BEGIN
      SELECT * INTO before FROM agents WHERE id = s->>'agent_id' FOR UPDATE;
      verdict := coppice_step_unlogged(s);
      INSERT INTO chaos_steps (at, agent_id, root_id, epoch, found_epoch, worker, at_work, ok, reason, created, consumed)
      VALUES (coppice_now(), s->>'agent_id', before.root_id, (s->>'epoch')::bigint, before.epoch, before.worker,
        s->>'status' = 'requesting' OR (s->>'status' = 'executing' AND coppice_runs_call(s->>'state')),
        (verdict->>'ok')::boolean, verdict->'refusal'->>'reason', jsonb_array_length(s->'create'), s->'consume');
      RETURN verdict;
    END $$;
    CREATE TABLE chaos_claims (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, agent_id text NOT NULL, worker text);
    CREATE FUNCTION chaos_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_claims (at, agent_id, worker) VALUES (coppice_now(), new.id, new.worker);
      RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_claim AFTER UPDATE ON agents FOR EACH ROW WHEN (new.epoch > old.epoch) EXECUTE FUNCTION chaos_claim();`);
}

/** One taking of an agent: its epoch went up. */
export interface LoggedClaim {
  readonly at: number;
  readonly agent_id: string;
  readonly worker: string | null;
}

export async function readClaims(pool: pg.Pool): Promise<LoggedClaim[]> {
  return (await pool.query('SELECT at, agent_id, worker FROM chaos_claims ORDER BY number'))
    .rows as LoggedClaim[];
}

export async function readSteps(pool: pg.Pool): Promise<LoggedStep[]> {
  const columns = 'at, agent_id, root_id, epoch, found_epoch, worker, at_work, ok, reason, created';
  return (await pool.query(`SELECT ${columns} FROM chaos_steps ORDER BY number`)).rows as LoggedStep[];
}

/** Letters that more than one step that was taken took into a conversation. */
export async function doublyConsumed(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT letter->>'mail_id' AS id FROM chaos_steps, jsonb_array_elements(consumed) AS letter WHERE ok GROUP BY 1 HAVING count(*) > 1`,
  );
  return rows.map(({ id }) => id as string);
}
