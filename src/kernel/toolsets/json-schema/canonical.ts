/** The same text for equal JSON values, independent of key order; `spend` is charged for every value and long text. */
export function canonical(value: unknown, spend: (steps: number) => void): string {
  if (typeof value === 'string') {
    spend(4 + value.length / 16);
    return JSON.stringify(value);
  }
  spend(4);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, spend)).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one, spend)}`).join()}}`;
}
