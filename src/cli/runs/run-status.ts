import type { RunStatus } from '../../records/run/run.ts';
import { type Paint, paint, type Style } from '../../render/style.ts';

const LOOKS: Readonly<
  Record<RunStatus, { readonly unicode: string; readonly ascii: string; readonly paint: Paint }>
> = {
  queued: { unicode: '◌', ascii: '.', paint: 'dim' },
  running: { unicode: '◐', ascii: '*', paint: 'cyan' },
  completed: { unicode: '✓', ascii: '+', paint: 'green' },
  failed: { unicode: '✗', ascii: 'x', paint: 'red' },
  timeout: { unicode: '✗', ascii: 'x', paint: 'red' },
  cancelled: { unicode: '✗', ascii: 'x', paint: 'gray' },
};

/** Symbol and word, always both. */
export function runStatus(status: RunStatus, style: Style): string {
  const look = LOOKS[status];
  return paint(style, look.paint, `${style.unicode ? look.unicode : look.ascii} ${status}`);
}
