import { Option } from 'commander';
import type { CommandBuilder } from '../start/command-builder.ts';
import { rowCount } from '../start/option-values.ts';
import type { ListOptions } from './deliveries.ts';

/** `coppice deliveries …` */
export function addDeliveriesCommands({ sub, deferred }: CommandBuilder): void {
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
    .action(
      deferred(async (context, options: ListOptions) =>
        (await import('./deliveries.ts')).deliveriesList(context, options),
      ),
    );
  sub('retry', 'Retry deliveries now', deliveries)
    .argument('[deliveries...]', 'id, unique prefix, or the id of a run; default: all failed ones')
    .action(
      deferred(async (context, ids: string[]) =>
        (await import('./deliveries.ts')).deliveriesRetry(context, ids),
      ),
    );
}
