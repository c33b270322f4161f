type Value = string | number | null;

export interface Where {
  /** `WHERE …`, or nothing. */
  readonly sql: string;
  readonly values: readonly Value[];
  /** What the next value is called in the statement. */
  readonly next: string;
}

/** Only conditions that are asked for: a statement that also served their absence could use no index. */
export function where(
  equal: Readonly<Record<string, Value | undefined>>,
  more: readonly (string | false | undefined)[] = [],
): Where {
  const given = Object.entries(equal).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  const conditions = [
    ...given.map(({ column }, at) => `${column} = $${at + 1}`),
    ...more.filter((one) => typeof one === 'string'),
  ];
  return {
    sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    values: given.map(({ value }) => value),
    next: `$${given.length + 1}`,
  };
}
