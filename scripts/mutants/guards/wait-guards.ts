import type { Guard } from './guard.ts';

/** Guards of waits, which continue without a poll as soon as the ledger holds what they wait for. */
export const WAIT_GUARDS: readonly Guard[] = [
  {
    name: 'met-is-read',
    protects: 'a wait from sleeping through the rest of an agent that came before it was parked',
    file: 'src/runtime/executor/executor.ts',
    guard: '(met ?? added).filter(',
    without: '(met === undefined ? added : []).filter(',
    tests: ['sim/promptness', 'runtime/waits/wait-orders', 'runtime/waits/two-processes.long'],
  },
  {
    name: 'waiter-signals',
    protects: 'a wait from sleeping through the rest of an agent that another process leads',
    file: 'src/kernel/ledger/post-mail.ts',
    guard: "for (const waiter of agents) signal(unit, waiter, writer, 'status', about);",
    without: '',
    tests: ['sim/promptness', 'runtime/waits/wait-orders', 'runtime/waits/two-processes.long'],
  },
  {
    name: 'queued-signals',
    protects: 'a queued run from sleeping when its place becomes free in another process',
    file: 'src/kernel/ledger/run-history.ts',
    guard: "if (!signalled.has(run.worker)) signal(unit, run, writer, 'status', about);",
    without: '',
    tests: ['kernel/ledger', 'store/store-sqlite', 'store/store-postgres'],
  },
  {
    name: 'queued-places',
    protects:
      'a queued run from sleeping when its place had become free in another process before it was queued',
    file: 'src/runtime/executor/group-commit.ts',
    guard: '      this.#checkPlaces();\n',
    without: '',
    tests: ['runtime/waits/queue-orders'],
  },
  {
    name: 'places-of-others',
    protects: 'queued runs from waiting for ever behind runs that another process leads',
    file: 'src/runtime/executor/run-queue.ts',
    guard: 'is_working && agent.worker === this.#worker_id',
    without: 'is_working',
    tests: ['runtime/executor/run-queue'],
  },
  {
    name: 'clock-followed',
    protects: 'waits and turns from ending because the wall clock was set',
    file: 'src/runtime/executor/cell.ts',
    guard: "cell.inputs.unshift({ type: 'event', event });",
    without: '',
    tests: ['runtime/leading/clock-steps'],
  },
  {
    name: 'unled-time',
    protects: 'waits and turns from ending because nobody led the agent for long',
    file: 'src/runtime/leading/take-over.ts',
    guard: 'if (by_ms > 0) cell',
    without: 'if (by_ms < 0) cell',
    tests: ['runtime/leading/clock-steps'],
  },
  {
    name: 'cut-is-no-success',
    protects: 'scripts from taking a run that a limit cut short for a success',
    file: 'src/records/run/outcome.ts',
    guard: "new Set(['cut_short', ",
    without: 'new Set([',
    tests: ['cli/run/child-ends'],
  },
  {
    name: 'interrupted-is-no-success',
    protects: 'programs from taking an agent that somebody interrupted for one that answered',
    file: 'src/kernel/transition/turn-end.ts',
    guard: "step({ type: 'idle', stopped_by: by }, effects)",
    without: "step({ type: 'idle' }, effects)",
    tests: ['library/subagent-callbacks'],
  },
];
