export const LIVING = `status NOT IN ('completed', 'failed', 'killed')`;
