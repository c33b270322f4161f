/** Schema 7: what is old can go. */
export const RETENTION_MIGRATION = `
-- Null; closed: nobody leads it or writes to it any more; begun: some of it is gone.
ALTER TABLE trees ADD COLUMN removal text;
CREATE INDEX trees_closed ON trees (root_id) WHERE removal IS NOT NULL;
CREATE INDEX deliveries_delivered ON deliveries (ended_at, id) WHERE status = 'delivered';
`;
