import { agentJson } from '../../documents/agent-json.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { type Agent, isUserInitiated } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { agentsJson, oneAgent, oneRoot, type ReadSources } from '../find-agent.ts';
import { unledOf } from '../leaders/unled-reason.ts';

/** Documents about agents, without the request schemas, so that commands which read the ledger need not load those. */

export const AGENTS_USUAL = 200;
export const MESSAGES_USUAL = 200;

export interface AgentsQuery {
  readonly tree?: string | undefined;
  readonly called?: string | undefined;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** With `called`: all matching agents, living ones first. Otherwise the agents of `tree`, or the newest `limit`, oldest first. */
export async function agentsDocument(
  sources: ReadSources,
  { tree, called, all = called !== undefined, limit = AGENTS_USUAL }: AgentsQuery,
): Promise<DocumentOf<'coppice/agents/v1'>> {
  const { store } = sources;
  const root_id = tree === undefined ? undefined : (await oneRoot(store, tree)).id;
  const found =
    called === undefined
      ? await store.agents({ root_id, living: !all, limit: root_id === undefined ? limit : undefined })
      : (await store.find(called, root_id)).toReversed();
  // One stands for all that its tree waits for.
  const paused = new Map(found.map((agent) => [pauseOf(agent.state) && agent.root_id, agent]));
  const isShown = (agent: Agent) =>
    isUserInitiated(agent) || agent.parent_id === null || paused.get(agent.root_id) === agent;
  const shown = found.filter((agent) => all || isShown(agent));
  const root_ids = [...new Set(shown.map((agent) => agent.root_id))];
  const [asks, approvals] = await Promise.all([
    store.asks({ root_ids, open: true }),
    store.openAsks(root_id),
  ]);
  return {
    schema: 'coppice/agents/v1',
    agents: await agentsJson(sources, shown.toReversed(), asks),
    hidden: found.length - shown.length,
    approvals,
  };
}

export async function agentDocument(
  { store, unled }: ReadSources,
  text: string,
): Promise<DocumentOf<'coppice/agent/v1'>> {
  const agent = await oneAgent(store, text);
  const [mail, children, requests, asks, root, parent, checkpoint] = await Promise.all([
    store.mail(agent.id),
    store.agents({ parent_id: agent.id }),
    store.requestCount(agent.id),
    store.asks({ agent_id: agent.id, open: true }),
    store.agent(agent.root_id),
    agent.parent_id === null ? null : store.agent(agent.parent_id),
    store.checkpoint(agent.id),
  ]);
  const has_ended = isTerminal(agent.state.type);
  const title = await titleOf(store, root ?? agent);
  return {
    schema: 'coppice/agent/v1',
    ...agentJson(agent, asks, has_ended ? null : await unledOf(unled, store, agent.root_id)),
    ...(agent.parent_id === null ? { title } : {}),
    tree_title: title,
    parent_name: parent?.name ?? null,
    cwd: agent.config.cwd,
    forked_from: agent.forked_from,
    messages: agent.last_seq,
    checkpoints: checkpoint?.number ?? 0,
    requests,
    pending_mail: mail,
    children: children.map(({ id }) => id),
    child_names: children.map(({ name }) => name),
  };
}

export interface MessagesQuery {
  readonly after?: number | undefined;
  readonly tail?: number | undefined;
  readonly limit?: number | undefined;
}

export async function messagesDocument(
  { store }: ReadSources,
  text: string,
  { after = 0, tail, limit = MESSAGES_USUAL }: MessagesQuery,
): Promise<DocumentOf<'coppice/messages/v1'>> {
  const agent = await oneAgent(store, text);
  const from = tail === undefined ? after : Math.max(0, agent.last_seq - tail);
  const messages = await store.history(agent.id, from, tail ?? limit);
  const last = messages.at(-1)?.seq ?? from;
  return {
    schema: 'coppice/messages/v1',
    agent_id: agent.id,
    messages: messages as DocumentOf<'coppice/messages/v1'>['messages'],
    next: last < agent.last_seq ? last : null,
  };
}
