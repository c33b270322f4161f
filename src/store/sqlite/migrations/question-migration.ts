/** Schema 8: what a call that is asked about would change in a file. */
export const QUESTION_MIGRATION = `
ALTER TABLE asks ADD COLUMN difference TEXT;
`;
