/** From the least to the most important. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMS = ['json', 'text'] as const;
export type LogForm = (typeof LOG_FORMS)[number];
