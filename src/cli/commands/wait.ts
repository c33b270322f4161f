import { randomUUID } from 'node:crypto';
import type { Agent } from '../../core/agent.ts';
import { isTerminal, isWorking } from '../../core/state.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agent-json.ts';
import { type Context, withStore } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { findAgent, findRoot } from '../find-agent.ts';

const POLL_MS = 500;

interface Row {
  readonly agent_id: string;
  readonly name: string;
  readonly status: 'running' | 'idle' | 'dead';
  readonly last_reply: string | null;
}

/**
 * `coppice wait [ID…]`: until none of these agents (without ids: of the newest tree) is at work. Looks only: mail between agents stays
 * theirs, so `received` does not occur here.
 */
export function wait(
  context: Context,
  texts: readonly string[],
  options: { readonly timeout: number },
): Promise<number> {
  return withStore(context, async (store) => {
    const ids = await idsOf(store, texts);
    const deadline = Date.now() + options.timeout * 1000;
    let wake = (): void => undefined;
    const stop = await store.listen(randomUUID(), () => wake());
    let rows = await look(store, ids);
    while (rows.some((row) => row.status === 'running') && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(POLL_MS, Math.max(0, deadline - Date.now())));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      rows = await look(store, ids);
    }
    await stop();
    const complete = rows.every((row) => row.status !== 'running');
    if (context.json) printJson({ results: rows, ...(complete ? {} : { timed_out: true }) });
    else
      for (const row of rows)
        process.stdout.write(
          `${clean(row.name).padEnd(20)}  ${row.status.padEnd(8)}  ${clean(row.last_reply ?? '')}\n`,
        );
    return complete ? EXIT.done : EXIT.wait_incomplete;
  });
}

async function idsOf(store: Store, texts: readonly string[]): Promise<readonly string[]> {
  if (texts.length > 0) return Promise.all(texts.map(async (text) => (await findAgent(store, text)).id));
  const root = await findRoot(store, undefined);
  const agents = await store.agents({ root_id: root.id, living: true });
  return agents.toReversed().map((agent) => agent.id);
}

async function look(store: Store, ids: readonly string[]): Promise<Row[]> {
  const agents = await Promise.all(ids.map((id) => store.agent(id)));
  return agents.filter((agent): agent is Agent => agent !== null).map(rowOf);
}

function rowOf(agent: Agent): Row {
  const status = isTerminal(agent.state.type) ? 'dead' : isWorking(agent.state.type) ? 'running' : 'idle';
  return { agent_id: agent.id, name: agent.name, status, last_reply: agent.reply };
}
