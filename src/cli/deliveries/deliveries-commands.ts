import { type Command, Option } from 'commander';
import type { DeliveryStatus } from '../../records/run/delivery.ts';
import { countOf } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';

/** `coppice deliveries …` */
export function addDeliveriesCommands({ sub, choose }: ProgramPart): void {
  const deliveries = sub('deliveries', 'What goes to people outside: list, retry');
  const part = (name: string, description: string): Command => sub(name, description, deliveries);
  part('list', 'Deliveries, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(['pending', 'delivered', 'failed']))
    .option('--limit <n>', 'at most so many', countOf, 20)
    .action(
      choose(
        (options: { status?: DeliveryStatus; limit: number }) => async (context) =>
          (await import('./deliveries-list.ts')).deliveriesList(context, options),
      ),
    );
  part('retry', 'Try deliveries again now')
    .argument('[deliveries...]', 'id, unique prefix, or the id of a run; default: all that failed')
    .action(
      choose(
        (ids: string[]) => async (context) =>
          (await import('./deliveries-retry.ts')).deliveriesRetry(context, ids),
      ),
    );
}
