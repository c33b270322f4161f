/** Schema 5: what many machines and large numbers need. */
export const SCALE_MIGRATION = `
DROP FUNCTION IF EXISTS coppice_create_root(jsonb, text, boolean);

-- A mark of the last write of a leader that nothing else tells apart from its repetition: a step without messages, or a claim.
ALTER TABLE agents ADD COLUMN last_write text;
`;
