/** What all other functions in the database stand on. */
export const GROUND_FUNCTIONS = `
CREATE OR REPLACE FUNCTION coppice_is_terminal(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT status IN ('completed', 'failed', 'killed') $$;

CREATE OR REPLACE FUNCTION coppice_is_working(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting') $$;

CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
`;
