/** Schema 5: what many machines and large numbers need. */
export const SCALE_MIGRATION = `
-- A mark of the last write of a leader that nothing else tells apart from its repetition: a step without messages.
ALTER TABLE agents ADD COLUMN last_write TEXT;
`;
