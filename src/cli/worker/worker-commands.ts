import { collect, countOf, seconds } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';
import { logOptions } from '../serve/serve-command.ts';
import type { WorkerOptions } from './worker.ts';

const DRAIN_S = 30;
const CONCURRENCY = 50;

/** `coppice worker …` */
export function addWorkerCommands({ sub, choose }: ProgramPart): void {
  const worker = logOptions(
    sub('worker', 'Advance agents of a shared ledger, until it is stopped; list, drain'),
  )
    .option('--concurrency <n>', 'trees at once', countOf, CONCURRENCY)
    .option(
      '--labels <list>',
      'what trees may ask for, e.g. gpu,eu; its host comes by itself (repeatable)',
      collect,
      [],
    )
    .option('--drain <seconds>', 'what turns under way get when it is stopped', seconds, DRAIN_S)
    .action(
      choose(
        (options: WorkerOptions) => async (context) => (await import('./worker.ts')).worker(context, options),
        { begins: true },
      ),
    );
  sub('list', 'Processes that lead agents of this ledger', worker).action(
    choose(() => async (context) => (await import('./worker-list.ts')).workerList(context)),
  );
  sub('drain', 'Tell a worker to take nothing more, let its turns end, and stop', worker)
    .argument('<worker>', 'id or unique prefix')
    .action(
      choose((id: string) => async (context) => (await import('./worker-drain.ts')).workerDrain(context, id)),
    );
}
