import type { ChannelLog } from '../../channels/channel.ts';

const AGAIN_MS = 60_000;

/** Tells of trouble that comes again every second once a minute. */
export function troubleLog(log: ChannelLog): ChannelLog {
  const told = new Map<string, number>();
  return (level, text, fields) => {
    const now = performance.now();
    const key = `${text} ${JSON.stringify(fields ?? {})}`;
    const last = told.get(key);
    if (last !== undefined && now - last < AGAIN_MS) return;
    for (const [old, at] of told) if (now - at >= AGAIN_MS) told.delete(old);
    told.set(key, now);
    log(level, text, fields);
  };
}
