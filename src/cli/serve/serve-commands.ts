import type { CommandBuilder } from '../start/command-builder.ts';
import { collect, countOf, seconds } from '../start/option-values.ts';
import { addLogOptions, SERVE_DRAIN_S } from './log-options.ts';

const WORKER_DRAIN_S = 30;
const CONCURRENCY = 50;
const DRAIN = 'how long running turns may continue after it is told to stop';

/** Adds the commands of processes that lead trees until they are stopped: `coppice serve`, `coppice web` and `coppice worker …` */
export function addServeCommands({ sub, imported }: CommandBuilder): void {
  addLogOptions(sub('serve', 'Run scheduled tasks, deliver results and listen on channels, until stopped'))
    .option(
      '--listen <address>',
      'HOST:PORT or PORT of the HTTP API (default: 127.0.0.1:4747, or a free port)',
    )
    .option('--no-listen', 'no HTTP API')
    .option('--drain <seconds>', DRAIN, seconds, SERVE_DRAIN_S)
    .action(imported(async () => (await import('./serve.ts')).serve, { creates_ledger: true, local: true }));
  sub('web', 'Open the dashboard in the browser with a one-time link; serve it if no server runs')
    .option('--no-open', 'only print the link')
    .option('--qr', 'also draw the link as a QR code, for a phone that reaches the server')
    .option('--read-only', 'a session or token that cannot change anything')
    .option('--token', 'print the token, for programs')
    .option('--rotate', 'replace the token first; the old one and its sessions become invalid at once')
    .action(imported(async () => (await import('./web.ts')).web, { creates_ledger: true, local: true }));
  const worker = addLogOptions(sub('worker', 'Lead trees of a shared ledger, until stopped; list, drain'))
    .option('--concurrency <n>', 'maximum trees at once', countOf, CONCURRENCY)
    .option(
      '--labels <list>',
      'labels that trees may require, e.g. gpu,eu; the label of its host is always included (repeatable)',
      collect,
      [],
    )
    .option('--drain <seconds>', DRAIN, seconds, WORKER_DRAIN_S)
    .action(
      imported(async () => (await import('./worker.ts')).worker, { creates_ledger: true, local: true }),
    );
  sub('list', 'List processes that lead agents of this ledger', worker).action(
    imported(async () => (await import('./worker-list.ts')).workerList),
  );
  sub('drain', 'Tell a worker to take no more trees, finish its turns, and stop', worker)
    .argument('<worker>', 'id or unique prefix')
    .action(imported(async () => (await import('./worker-list.ts')).workerDrain));
}
