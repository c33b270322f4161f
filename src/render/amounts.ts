/** `62000` → `1m02`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, '0')}`;
  return `${Math.floor(hours / 24)}d`;
}

/** `13241` → `13k`. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_500) return `${Math.round(value / 1000)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}
