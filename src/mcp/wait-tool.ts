import { type Agent, isActive, pathUp } from '../records/agent/agent.ts';
import { isTerminal } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { type Outcome, outcomeOfTree } from '../records/run/outcome.ts';
import { isFinished } from '../records/run/run.ts';
import { lookUntil } from '../trees/rest.ts';
import type { ClientAgent } from './client-agent.ts';
import { askLine, type Row, restRow, runOf, runRow } from './listed-agents.ts';
import type { McpOptions } from './mcp-options.ts';

/** Which of the agents that a call waits for are still at work, as the ledger has them now. */
export interface Look {
  readonly open: readonly Agent[];
  /** Open approvals of these agents and of those below them. */
  readonly asks: readonly Ask[];
}

type Sources = Pick<McpOptions, 'store' | 'runtime'>;

/** Reads which of these agents are still at work, and which approvals are open. */
export async function look(client: ClientAgent, ids: readonly string[], { store }: Sources): Promise<Look> {
  const root = await client.known();
  const agents = (await Promise.all(ids.map((id) => store.agent(id)))).filter((one) => one !== null);
  const senders = sendersOf(root === null ? [] : await store.mail(root.id));
  const asks: Ask[] = [];
  const open = new Set<Agent>();
  for (const [root_id, waited] of Map.groupBy(agents, (agent) => agent.root_id)) {
    const tree = await store.agents({ root_id, living: true });
    for (const agent of waited)
      if (!senders.has(agent.id) && (await isOpen(agent, tree, store))) open.add(agent);
    const known = new Map(tree.map((agent) => [agent.id, agent]));
    for (const ask of await store.asks({ root_id, open: true }))
      if (pathUp(ask.agent_id, (id) => known.get(id)).some((id) => ids.includes(id))) asks.push(ask);
  }
  return { open: agents.filter((agent) => open.has(agent)), asks };
}

/** The agents of which there are letters. */
export function sendersOf(letters: readonly Mail[]): ReadonlySet<string> {
  return new Set(letters.flatMap(({ kind, from_id }) => (kind === 'letter' && from_id ? [from_id] : [])));
}

async function isOpen(agent: Agent, tree: readonly Agent[], store: McpOptions['store']): Promise<boolean> {
  const run = await runOf(agent, store);
  if (run !== null) return !isFinished(run.status);
  if (isTerminal(agent.state.type)) return false;
  return agent.parent_id === null ? tree.some(isActive) : isActive(agent);
}

/** Waits until none of these agents is at work (or `until` says so), an approval is open, `ms` have passed, or the client has disconnected. */
export async function waitFor(
  client: ClientAgent,
  ids: readonly string[],
  sources: Sources,
  {
    ms,
    signal,
    elicits,
    until = ({ open }) => open.length === 0,
    onLook,
  }: {
    readonly ms: number;
    readonly signal: AbortSignal;
    /** Whether to return when an approval is open, which the client can show. */
    readonly elicits: boolean;
    readonly until?: (now: Look) => boolean | Promise<boolean>;
    readonly onLook?: (now: Look) => void;
  },
): Promise<Look> {
  return lookUntil(
    sources,
    async () => {
      const now = await look(client, ids, sources);
      onLook?.(now);
      await client.lead(now.open).catch(() => undefined);
      return now;
    },
    async (now) => (await until(now)) || (elicits && now.asks.length > 0),
    { ms, signal },
  );
}

/** Returns one row per agent, in the order of `ids`; takes letters of agents below the client's own agent out of its mailbox. */
export async function rowsOf(
  client: ClientAgent,
  ids: readonly string[],
  { open, asks }: Look,
  { store, runtime }: Sources,
  signal?: AbortSignal,
): Promise<Row[]> {
  const root = await client.known();
  const rows = new Map<string, Row>();
  const reporting: string[] = [];
  for (const id of ids) {
    const agent = await store.agent(id);
    if (agent === null) {
      rows.set(id, { agent_id: id, name: id, status: 'dead', error: 'its conversation was deleted' });
      continue;
    }
    const run = await runOf(agent, store);
    const is_open = open.some((one) => one.id === id);
    const row = run === null ? restRow(agent, is_open, Date.now()) : runRow(agent, run);
    rows.set(id, agent.parent_id === null ? { ...row, ...(await treeOutcomeOf(agent, store)) } : row);
    if (run === null && agent.parent_id !== null && agent.root_id === root?.id) reporting.push(id);
  }
  for (const row of await lettersOf(client, reporting, runtime, signal)) {
    // The toolset has one word, `dead`, for every end.
    const ended = row.status === 'dead' ? await store.agent(row.agent_id) : null;
    const { outcome = 'done', outcome_text = '' } = rows.get(row.agent_id) ?? {};
    const said = { ...row, outcome, outcome_text };
    rows.set(row.agent_id, ended === null ? said : restRow(ended, false, Date.now()));
  }
  return ids.flatMap((id) => {
    const row = rows.get(id);
    if (row === undefined) return [];
    const ask = asks.find(({ agent_id }) => agent_id === id);
    return [ask === undefined ? row : { ...row, approval: askLine(ask) }];
  });
}

/** How a tree that the client started stands as a whole. */
async function treeOutcomeOf(root: Agent, store: McpOptions['store']): Promise<Outcome> {
  const unsettled = await store.agents({ root_id: root.id, unsettled: true });
  return outcomeOfTree(root.id, [root, ...unsettled], (await store.tree(root.id))?.total);
}

/**
 * Returns the letters of these agents as rows. Empty if the client's agent carries out no calls,
 * because it was killed or its tree has spent its budget: then the agents' states are reported.
 */
async function lettersOf(
  client: ClientAgent,
  from_agents: readonly string[],
  runtime: McpOptions['runtime'],
  signal: AbortSignal | undefined,
): Promise<readonly Row[]> {
  if (from_agents.length === 0) return [];
  const called = await client
    .call('wait', { timeout: 0, from_agents }, { signal })
    .catch((error: unknown) => {
      if (error instanceof CoppiceError && (error.code === 'E_REFUSED' || error.code === 'E_AGENT_DEAD'))
        return null;
      throw error;
    });
  if (called === null) return [];
  const { id, result, root_id } = called;
  // Taken back, the letters are left to the next wait; carried out later, it would collect them for nobody.
  if (result === null && (await runtime.takeBack(root_id, id))) return [];
  if (result === null)
    throw new CoppiceError('E_REFUSED', 'the letters could not be collected in time', {
      hint: `What is collected later is then in the transcript coppice://agents/${root_id}/transcript`,
    });
  return result.facts?.waited?.rows ?? [];
}

/** The parts of an answer that say which of `all` agents are still at work and what they wait for; none if all are at rest. */
export function unfinished({ open, asks }: Look, all: number): object {
  if (open.length === 0) return {};
  const waits = asks.map(({ id, agent_name, tool, subject }) => ({
    id: id.slice(0, 8),
    agent: agent_name,
    wants: askLine({ tool, subject }),
  }));
  return {
    timed_out: true,
    note: `${open.length} of ${all} are still at work: call wait with their agent_id.`,
    ...(waits.length === 0
      ? {}
      : { approvals: waits, hint: 'A person answers them: coppice approvals list, or the terminal UI.' }),
  };
}
