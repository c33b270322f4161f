import type { Guard } from './guard.ts';

const QUOTA = ['runtime/quota/pauses'];

/** Guards of the pause while a provider takes no requests. */
export const PAUSE_GUARDS: readonly Guard[] = [
  {
    name: 'pause-known-at-takeover',
    protects: 'a closed provider from the requests that were under way when a process died',
    file: 'src/runtime/leading/take-over.ts',
    guard: '  await closeDoors(living);\n',
    without: '',
    tests: QUOTA,
  },
  {
    name: 'pause-known-at-start',
    protects: 'a closed provider from trees that a server takes over before those that wait',
    file: 'src/runtime/open-runtime.ts',
    guard: 'const parked = (await this.#parked) ?? [];',
    without: 'const parked: Agent[] = [];',
    tests: QUOTA,
  },
  {
    name: 'pause-one-try',
    protects: 'a closed provider from more than one request that tries it',
    file: 'src/models/gate/closed-provider.ts',
    guard: 'is_due && !this.#is_tried ? null : barred',
    without: 'is_due ? null : barred',
    tests: ['models/gate/closed-provider'],
  },
  {
    name: 'pause-newest-news',
    protects: 'an open provider from being closed by what the ledger was told before',
    file: 'src/models/gate/closed-provider.ts',
    guard: ' || told_at <= this.#known_at',
    without: '',
    tests: ['models/gate/closed-provider'],
  },
  {
    name: 'pause-stray-refusal',
    protects: 'the agents of a key that works from one stray refusal',
    file: 'src/models/gate/closed-provider.ts',
    guard: 'ASKS_PERSON.has(spent) && this.#has_worked && !this.#is_tried',
    without: 'ASKS_PERSON.has(spent) && spent === undefined',
    tests: QUOTA,
  },
  {
    name: 'pause-try-that-reaches-nobody',
    protects: 'paused agents from following a try that reached nobody',
    file: 'src/models/gate/closed-provider.ts',
    guard: 'UNREACHED.has(failure.kind) ? (tried[0]?.stay(closes) ?? null) : null',
    without: 'null',
    tests: QUOTA,
  },
  {
    name: 'pause-nobody-answers',
    protects: 'agents from failing while the network is away',
    file: 'src/models/gate/closed-provider.ts',
    guard: "return closes?.spent === 'service' ? closes : null;",
    without: 'return null;',
    tests: QUOTA,
  },
  {
    name: 'pause-other-key',
    protects: 'the agents of a process with another key from waiting for the old one',
    file: 'src/runtime/performing/await-provider.ts',
    guard: "  if (model?.closed?.() === false) return reopen(cell, context, 'open');\n",
    without: '',
    tests: QUOTA,
  },
  {
    name: 'pause-tried-once',
    protects:
      'a provider from a second request of an agent that is being answered, because two said that it may go on',
    file: 'src/runtime/performing/await-provider.ts',
    guard: ' || pause === cell.reopened || cell.request !== null',
    without: '',
    tests: ['runtime/quota/tried-once'],
  },
  {
    name: 'pause-mistake-told-at-once',
    protects: 'a person whose key or model is wrong from a tree that waits instead of saying so',
    file: 'src/runtime/performing/await-provider.ts',
    guard: "if (spent === 'quota' || spent === 'credit' || usage.output > 0) return true;",
    without: "if (spent === 'quota' || spent === 'credit' || usage.output >= 0) return true;",
    tests: QUOTA,
  },
  {
    name: 'pause-stops-clocks',
    protects: 'agents that wait for a paused one from running out of time',
    file: 'src/runtime/leading/stopped-clocks.ts',
    guard: "      executor.happened(cell, { type: 'clock-moved', at, by_ms });\n",
    without: '',
    tests: QUOTA,
  },
  {
    name: 'pause-ends-the-run',
    protects: 'a program without a terminal from waiting for hours',
    file: 'src/cli/run/ending/stopped-run.ts',
    guard: 'ends_soon || goes_on ? undefined : paused[0]',
    without: 'ends_soon || goes_on || paused.length > 0 ? undefined : paused[0]',
    tests: ['cli/run/paused'],
  },
];
