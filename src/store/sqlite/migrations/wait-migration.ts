/** Schema 10: when waits end by themselves (law 10); null: never, and what was written before. */
export const WAIT_MIGRATION = `
ALTER TABLE wait_edges ADD COLUMN until INTEGER;
`;
