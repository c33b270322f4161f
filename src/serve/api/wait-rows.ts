import { randomUUID } from 'node:crypto';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal, isWorking } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import type { Store } from '../../store/store.ts';

const POLL_MS = 500;

/** How an agent that somebody waits for stands. */
export interface WaitRow {
  readonly agent_id: string;
  readonly root_id: string;
  readonly name: string;
  readonly status: 'running' | 'idle' | 'dead';
  readonly last_reply: string | null;
  /** Why it failed. */
  readonly error?: string;
  /** The limit that ended its turn. */
  readonly limit?: string;
}

/** Waits until none of these agents is working, `timeout_ms` are over, or nobody listens any more. It only reads the ledger. */
export async function waitRows(
  store: Store,
  ids: readonly string[],
  timeout_ms: number,
  signal?: AbortSignal,
  /** Called after each look at the ledger. */
  onLook: (rows: readonly WaitRow[]) => Promise<void> = async () => undefined,
): Promise<{ readonly rows: readonly WaitRow[]; readonly complete: boolean }> {
  const deadline = Date.now() + timeout_ms;
  let woken = false;
  let wake = (): void => undefined;
  const leave = () => {
    woken = true;
    wake();
  };
  const stop = await store.listen(randomUUID(), leave);
  signal?.addEventListener('abort', leave);
  try {
    for (;;) {
      woken = false;
      const rows = await look(store, ids);
      await onLook(rows);
      const complete = rows.every((row) => row.status !== 'running');
      const left = deadline - Date.now();
      if (complete || left <= 0 || signal?.aborted === true) return { rows, complete };
      if (woken) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(POLL_MS, left));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    await stop();
  }
}

async function look(store: Store, ids: readonly string[]): Promise<WaitRow[]> {
  const agents = await Promise.all(ids.map((id) => store.agent(id)));
  return agents.filter((agent): agent is Agent => agent !== null).map(rowOf);
}

function rowOf(agent: Agent): WaitRow {
  const { state } = agent;
  const works = isWorking(state.type) || agent.unread === true;
  const status = isTerminal(state.type) ? 'dead' : works ? 'running' : 'idle';
  const limit = works ? null : cutShort(state);
  return {
    agent_id: agent.id,
    root_id: agent.root_id,
    name: agent.name,
    status,
    last_reply: agent.reply,
    ...(!works && (state.type === 'errored' || state.type === 'failed')
      ? { error: state.failure.error }
      : {}),
    ...(limit === null ? {} : { limit }),
  };
}
