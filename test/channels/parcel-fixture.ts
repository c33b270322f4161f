import { randomUUID } from 'node:crypto';
import type { DeliverContext, DeliverResult, Parcel } from '../../src/channels/channel.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import type { Run } from '../../src/records/run/run.ts';
import { openAsk } from '../store/ledger-fixture.ts';

const CREATED_AT = Date.UTC(2026, 10, 21, 2, 31, 22, 250);

export function newRun(over: Partial<Run> = {}): Run {
  const id = randomUUID();
  return {
    id,
    source: 'cron',
    session_key: 'cron:job-7',
    requester_id: null,
    requester_key: 'you',
    task: 'look at the logs',
    label: 'nightly',
    model: 'fake/m',
    thinking: 'off',
    timeout_ms: null,
    cleanup: 'keep',
    deliver: [],
    job_id: null,
    root_id: id,
    agent_id: id,
    status: 'completed',
    result: 'all is well',
    error: null,
    outcome: 'done',
    outcome_text: 'done',
    created_at: CREATED_AT - 90_000,
    started_at: CREATED_AT - 60_000,
    finished_at: CREATED_AT,
    duration_ms: 60_000,
    ...over,
  };
}

export function newAsk(over: Partial<Ask> = {}): Ask {
  return openAsk({
    root_id: 'root',
    agent_id: 'agent',
    agent_name: 'file-reader',
    call_id: 'c1',
    subject: 'rm -rf dist',
    input: '{"command":"rm -rf dist"}',
    cwd: '/proj',
    rule: 'ask(bash:rm *)',
    asked_at: CREATED_AT,
    ...over,
  });
}

export function newParcel(address: string, over: Partial<Parcel> = {}): Parcel {
  return {
    id: `reply-${randomUUID()}-0`,
    kind: 'reply',
    address,
    text: 'Hello.',
    agent_id: randomUUID(),
    root_id: randomUUID(),
    run: null,
    ask: null,
    created_at: CREATED_AT,
    attempt: 1,
    progress: null,
    ...over,
  };
}

/** A context that records progress as the ledger does. */
export function newContext(
  signal: AbortSignal = new AbortController().signal,
): DeliverContext & { readonly progress: string[] } {
  const progress: string[] = [];
  return {
    signal,
    progress,
    saveProgress: async (text) => {
      progress.push(text);
    },
  };
}

/** Returns the error of a failed delivery; empty if it was delivered. */
export function errorOf(result: DeliverResult): string {
  return result.type === 'delivered' ? '' : result.error;
}
