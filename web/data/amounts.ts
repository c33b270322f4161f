/** Amounts formatted for people. */

export function count(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  // By what it is rounded to: 999,960 is 1.0M.
  if (value < 999_500) return `${(value / 1_000).toFixed(value < 9_950 ? 1 : 0)}k`;
  if (value < 999_950_000) return `${(value / 1_000_000).toFixed(1)}M`;
  return `${(value / 1_000_000_000).toFixed(2)}B`;
}

export function dollars(value: number | null): string {
  if (value === null || value === 0) return '';
  if (value < 0.0001) return '<$0.0001';
  if (value < 0.01) return `$${value.toFixed(4)}`;
  const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `$${value.toLocaleString('en-US', cents)}`;
}

export function duration(ms: number): string {
  if (ms > 0 && ms < 50) return `${Math.ceil(ms)}ms`;
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return inTwo(minutes, 'm', Math.floor(seconds % 60), 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return inTwo(hours, 'h', minutes % 60, 'm');
  return inTwo(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function inTwo(many: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${many}${unit}` : `${many}${unit} ${rest}${smaller}`;
}

export function bytes(value: number): string {
  if (value < 1_000) return `${Math.round(value)} B`;
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)} KB` : `${(value / 1_000_000).toFixed(1)} MB`;
}

const THIS_YEAR = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** Date and time, with the year if it is another one: `Nov 28, 16:20`. */
export function dateOf(date: Date, timeZone?: string): string {
  const other = date.getFullYear() === new Date().getFullYear() ? {} : ({ year: 'numeric' } as const);
  return date.toLocaleString(undefined, { ...THIS_YEAR, ...other, timeZone });
}
