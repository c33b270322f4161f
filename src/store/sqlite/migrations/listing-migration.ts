/** Schema 11: lists of agents, the newest first, of all and of the conversations of a folder. */
export const LISTING_MIGRATION = `
CREATE INDEX agents_by_time ON agents (created_at);
CREATE INDEX agents_by_folder ON agents (json_extract(config, '$.cwd'), created_at) WHERE origin = 'root';
`;
