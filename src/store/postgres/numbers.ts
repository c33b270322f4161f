import pg from 'pg';

const INT8 = 20;

/** `bigint` columns hold counters and times, all far below 2^53. */
export const NUMBERS = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;
