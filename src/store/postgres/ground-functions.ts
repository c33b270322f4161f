/** What all other functions in the database stand on. */
export const GROUND_FUNCTIONS = `
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
`;
