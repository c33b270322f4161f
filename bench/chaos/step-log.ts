import type pg from 'pg';

/** One step that the ledger accepted; steps of one agent in one transaction count as one. */
export interface LoggedStep {
  /** Milliseconds since the epoch, by the database's clock. */
  readonly at: number;
  readonly agent_id: string;
  readonly epoch: number;
  /** The agent's lease holder before the step. */
  readonly worker: string | null;
  /** The application name of the connection that wrote it. */
  readonly writer: string;
  /** Whether the agent is at work after the step: it asks its model, or a call runs in a process. */
  readonly at_work: boolean;
}

/**
 * Creates triggers that log what happens to rows, in the same transaction, independently of what processes report. A step is an update of the agent's
 * `last_seq` or `last_write` that leaves the epoch as it is; a claim raises the epoch. A refused write changes no row and is not logged.
 */
export async function logSteps(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE chaos_steps (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, agent_id text NOT NULL, epoch bigint NOT NULL,
      worker text, writer text NOT NULL, at_work boolean NOT NULL);
    CREATE FUNCTION chaos_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_steps (at, agent_id, epoch, worker, writer, at_work)
      VALUES (coppice_now(), new.id, new.epoch, old.worker, current_setting('application_name'),
        new.status = 'requesting' OR (new.status = 'executing' AND EXISTS (SELECT 1 FROM jsonb_array_elements(new.state::jsonb->'running') AS call
          WHERE NOT call ? 'wait' AND NOT call ? 'child' AND (NOT call ? 'ask' OR call->'approved' = 'true'))));
      RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_step AFTER UPDATE ON agents FOR EACH ROW
      WHEN (new.epoch = old.epoch AND (new.last_seq <> old.last_seq OR new.last_write IS DISTINCT FROM old.last_write)) EXECUTE FUNCTION chaos_step();
    CREATE TABLE chaos_claims (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, agent_id text NOT NULL, worker text);
    CREATE FUNCTION chaos_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_claims (at, agent_id, worker) VALUES (coppice_now(), new.id, new.worker);
      RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_claim AFTER UPDATE ON agents FOR EACH ROW WHEN (new.epoch > old.epoch) EXECUTE FUNCTION chaos_claim();
    CREATE TABLE chaos_births (root_id text NOT NULL);
    CREATE FUNCTION chaos_birth() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_births (root_id) VALUES (new.root_id);
      RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_birth AFTER INSERT ON agents FOR EACH ROW EXECUTE FUNCTION chaos_birth();
    CREATE TABLE chaos_consumed (mail_id text NOT NULL);
    CREATE FUNCTION chaos_consume() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_consumed (mail_id) VALUES (new.id);
      RETURN NULL;
    END $$;
    CREATE TRIGGER chaos_consume AFTER UPDATE ON mail FOR EACH ROW WHEN (new.consumed_seq IS NOT NULL) EXECUTE FUNCTION chaos_consume();`);
}

/** One claim of an agent: its epoch went up. */
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
  const columns = 'at, agent_id, epoch, worker, writer, at_work';
  return (await pool.query(`SELECT ${columns} FROM chaos_steps ORDER BY number`)).rows as LoggedStep[];
}

/** Number of agents created in each tree, by its root. */
export async function readBirths(pool: pg.Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query('SELECT root_id, count(*) AS agents FROM chaos_births GROUP BY root_id');
  return new Map(rows.map(({ root_id, agents }) => [root_id as string, agents as number]));
}

/** Ids of mail that was consumed more than once. */
export async function doublyConsumed(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query(
    'SELECT mail_id FROM chaos_consumed GROUP BY mail_id HAVING count(*) > 1',
  );
  return rows.map(({ mail_id }) => mail_id as string);
}
