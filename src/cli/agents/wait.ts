import { type Agent, isActive } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { clean } from '../../render/clean.ts';
import { unledOf, unledText } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { EXIT } from '../start/exit-code.ts';
import { findAgent, findRoot } from './find-agent.ts';
import { ledgerHints } from './ledger-hints.ts';

const POLL_MS = 500;
/** How often unled trees are looked for. */
const TELL_MS = 2_000;

interface Row {
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

/** `coppice wait [ID…]`: waits until none of these agents (default: those of the newest tree) is working. It only reads the ledger. */
export function wait(
  context: Context,
  texts: readonly string[],
  options: { readonly timeout: number },
): Promise<number> {
  return withStore(context, async (store) => {
    const ids = await idsOf(context, store, texts);
    const deadline = Date.now() + options.timeout * 1000;
    const hints = await ledgerHints(store);
    let rows = await look(store, ids);
    const told = new Set<string>();
    await tellUnledTrees(context, store, rows, told);
    let tell_at = Date.now() + TELL_MS;
    while (rows.some((row) => row.status === 'running') && Date.now() < deadline) {
      if (Date.now() >= tell_at) {
        await tellUnledTrees(context, store, rows, told);
        tell_at = Date.now() + TELL_MS;
      }
      await hints.next(Math.min(POLL_MS, deadline - Date.now()));
      rows = await look(store, ids);
    }
    await hints.stop();
    const complete = rows.every((row) => row.status !== 'running');
    if (context.json)
      printJson({
        schema: 'coppice/wait/v1',
        results: rows.map(({ root_id: _, ...row }) => row),
        ...(complete ? {} : { timed_out: true }),
      });
    else {
      const unled_roots = await tellUnledTrees(context, store, rows, told);
      for (const row of rows) {
        const status = row.status === 'running' && unled_roots.has(row.root_id) ? 'unled' : row.status;
        process.stdout.write(`${clean(row.name).padEnd(20)}  ${status.padEnd(8)}  ${clean(saidBy(row))}\n`);
      }
    }
    return complete ? EXIT.done : EXIT.wait_incomplete;
  });
}

/** Warns on stderr once about each unled tree, and returns their roots. The wait goes on: a process may take them over later. */
async function tellUnledTrees(
  context: Context,
  store: Store,
  rows: readonly Row[],
  told: Set<string>,
): Promise<ReadonlySet<string>> {
  const unled_roots = new Set<string>();
  const roots = rows.flatMap(({ status, root_id }) => (status === 'running' ? root_id : []));
  for (const root_id of new Set(roots)) {
    const unled = await unledOf(context, store, root_id);
    if (unled === null) continue;
    unled_roots.add(root_id);
    if (told.has(root_id)) continue;
    told.add(root_id);
    process.stderr.write(`${root_id.slice(0, 8)}: ${unledText(unled)}\n`);
  }
  return unled_roots;
}

async function idsOf(context: Context, store: Store, texts: readonly string[]): Promise<readonly string[]> {
  if (texts.length > 0)
    return Promise.all(texts.map(async (text) => (await findAgent(context, store, text)).id));
  const root = await findRoot(context, store, undefined);
  const agents = await store.agents({ root_id: root.id, living: true });
  return agents.toReversed().map((agent) => agent.id);
}

async function look(store: Store, ids: readonly string[]): Promise<Row[]> {
  const agents = await Promise.all(ids.map((id) => store.agent(id)));
  return agents.filter((agent): agent is Agent => agent !== null).map(rowOf);
}

function rowOf(agent: Agent): Row {
  const { state } = agent;
  const works = isActive(agent);
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

function saidBy({ last_reply, error, limit }: Row): string {
  const why = error ?? limit;
  return [why === undefined ? '' : `(${why})`, last_reply ?? ''].filter((text) => text !== '').join(' ');
}
