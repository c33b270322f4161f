import { METRICS } from '../../src/serve/metrics/metrics.ts';
import { table } from './commands-tables.ts';

/** The table of metrics in docs/operations.md. */
export function metricsTable(): string {
  return table(
    ['metric', 'type', 'what it is'],
    Object.entries(METRICS).map(([name, { type, help }]) => [`\`${name}\``, type, help]),
  );
}
