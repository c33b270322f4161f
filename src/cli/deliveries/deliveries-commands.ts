import { Option } from 'commander';
import type { CommandBuilder } from '../start/command-builder.ts';
import { rowCount } from '../start/option-values.ts';

/** `coppice deliveries …` */
export function addDeliveriesCommands({ sub, imported }: CommandBuilder): void {
  const deliveries = sub('deliveries', 'Messages sent through channels: list, retry');
  sub('list', 'List deliveries, newest first', deliveries)
    .addOption(
      new Option('--status <status>', 'only those with this status').choices([
        'pending',
        'delivered',
        'failed',
      ]),
    )
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(imported(async () => (await import('./deliveries.ts')).deliveriesList));
  sub('retry', 'Retry deliveries now', deliveries)
    .argument('[deliveries...]', 'id, unique prefix, or the id of a run; default: all failed ones')
    .action(imported(async () => (await import('./deliveries.ts')).deliveriesRetry));
}
