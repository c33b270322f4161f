import { proposeRules } from '../permissions/grants/propose-rules.ts';
import type { Agent } from '../records/agent/agent.ts';
import { isTerminal, isWorking } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { storable } from '../records/text/text.ts';
import { statusWord } from '../render/agent-status.ts';
import { treeRows } from '../render/tree-rows.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import { findAsk } from '../store/approvals/find-ask.ts';
import type { Store } from '../store/store.ts';
import { oneAgent } from '../trees/find-agent.ts';
import type { Root } from '../trees/open-tree.ts';
import type { AgentLine, ChannelMemory, ChatEvent, ChatSessions } from './channel.ts';

export interface ChatTreesOptions {
  readonly channel: string;
  readonly store: Store;
  readonly runtime: RuntimeFace;
  /** Returns the configuration of a new session. */
  readonly session: () => Root;
  /** Called after a write that gives a tree something to do; the tree may have to be taken over first. */
  readonly onWritten: () => void;
}

const COMMANDS = { list: '/approvals', show: '/show' };

/** The sessions of one channel: one tree per chat. */
export class ChatTrees implements ChatSessions {
  readonly memory: ChannelMemory;
  readonly #options: ChatTreesOptions;

  constructor(options: ChatTreesOptions) {
    const { channel, store } = options;
    this.#options = options;
    this.memory = {
      get: (key) => store.recall(channel, key),
      set: (key, value) => store.remember(channel, key, value),
    };
  }

  async say(chat: string, { id, from, text }: Parameters<ChatSessions['say']>[1]): Promise<void> {
    if (text.trim() === '') return;
    const root = (await this.#root(chat)) ?? (await this.#begin(chat));
    await this.#options.runtime.send(root.id, text, { id, from: storable(from) });
    this.#options.onWritten();
  }

  /** The session is forgotten last: whoever repeats this after a failure in between must still find it. */
  async renew(chat: string): Promise<boolean> {
    const known = (await this.memory.get(sessionKey(chat))) !== null;
    const root = await this.#root(chat);
    if (root !== null) await this.#options.runtime.kill(root.id);
    if (known) await this.memory.set(sessionKey(chat), null);
    return known;
  }

  async agents(chat: string): Promise<readonly AgentLine[]> {
    const root = await this.#root(chat);
    if (root === null) return [];
    const all = await this.#options.store.agents({ root_id: root.id, living: true });
    const rows = treeRows(
      all.toReversed(),
      { colour: false, unicode: false },
      ({ created_at }) => created_at,
    );
    return rows.map(({ agent }) => ({ ...agent, status: statusWord(agent) }));
  }

  async kill(chat: string, text: string): Promise<{ name: string; descendants: number }> {
    const root = await this.#root(chat);
    const find = async (name: string) => (root === null ? [] : this.#options.store.find(name, root.id));
    const agent = await oneAgent({ find }, text, { where: ' here', list: 'See: /agents' });
    const ids = await this.#options.runtime.kill(agent.id);
    if (ids.length === 0) throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended already`);
    return { name: agent.name, descendants: ids.length - 1 };
  }

  async interrupt(chat: string): Promise<boolean> {
    const root = await this.#root(chat);
    if (root === null || !isWorking(root.state.type)) return false;
    await this.#options.runtime.interrupt(root.id, 'stopped from the chat');
    return true;
  }

  async asks(chat: string): Promise<readonly Ask[]> {
    const open = await this.#options.store.asks({ open: true });
    const concerned = await Promise.all(open.map((ask) => this.#isFrom(chat, ask)));
    return open.filter((_, at) => concerned[at]);
  }

  async #isFrom(chat: string, ask: Ask): Promise<boolean> {
    const agent = await this.#options.store.agent(ask.agent_id);
    return agent?.config.channel === this.#target(chat);
  }

  async answer(chat: string, text: string, answer: Parameters<ChatSessions['answer']>[2]): Promise<Ask> {
    const { store, runtime } = this.#options;
    const findAsks = async (id: string): Promise<Ask[]> => {
      const all = await store.findAsks(id);
      const mine: Ask[] = [];
      for (const ask of all) if (await this.#isFrom(chat, ask)) mine.push(ask);
      if (mine.length === 0 || mine.length === all.length) return mine;
      throw new CoppiceError('E_ASK_NOT_FOUND', `"${text}" is too short`, { hint: 'See: /approvals' });
    };
    const ask = await findAsk({ findAsks, now: () => store.now() }, text, COMMANDS);
    const { rules, first, why } = proposeRules(ask);
    if (answer.scope !== 'once' && why !== null)
      throw new CoppiceError('E_INVALID_ARGUMENT', `no rule can be granted: ${why}`);
    const rule = answer.scope === 'once' ? undefined : rules[first];
    await runtime.answer(ask.id, { ...answer, shown: text.toLowerCase(), rule, note: storable(answer.note) });
    this.#options.onWritten();
    return (await this.#options.store.findAsks(ask.id))[0] ?? ask;
  }

  watch(listener: (event: ChatEvent) => void): () => void {
    const watched = new Map<string, Watched>();
    return this.#options.runtime.subscribe((event) => {
      for (const seen of this.#chatEvents(event, watched)) listener(seen);
    });
  }

  #chatEvents(event: RuntimeEvent, watched: Map<string, Watched>): ChatEvent[] {
    if (event.type === 'agent') return this.#agentEvents(event.agent, watched);
    if (event.type !== 'delta') return [];
    const one = watched.get(event.agent_id);
    if (one === undefined) return [];
    const { delta } = event;
    if (delta.type === 'restart') one.text = '';
    else if (delta.type === 'text') one.text += delta.text;
    else return [];
    return [{ type: 'text', chat: one.chat, agent_id: event.agent_id, text: one.text }];
  }

  #agentEvents(agent: Agent, watched: Map<string, Watched>): ChatEvent[] {
    const chat = this.#chatOf(agent);
    if (chat === null) return [];
    const agent_id = agent.id;
    const before = watched.get(agent_id);
    if (!isWorking(agent.state.type)) {
      watched.delete(agent_id);
      return before === undefined ? [] : [{ type: 'ended', chat, agent_id }];
    }
    const events: ChatEvent[] = [];
    if (before === undefined) {
      watched.set(agent_id, { chat, text: '', doing: agent.doing });
      events.push({ type: 'began', chat, agent_id });
    } else if (agent.state.type === 'requesting' && before.text !== '') {
      before.text = '';
      events.push({ type: 'text', chat, agent_id, text: '' });
    }
    if (before !== undefined && before.doing !== agent.doing) {
      before.doing = agent.doing;
      events.push({ type: 'doing', chat, agent_id, doing: agent.doing });
    }
    return events;
  }

  /** Returns the chat whose session has this agent as its root; null for other agents. */
  #chatOf({ parent_id, session_key }: Agent): string | null {
    const prefix = sessionOf(this.#options.channel, '');
    return parent_id === null && session_key.startsWith(prefix) ? session_key.slice(prefix.length) : null;
  }

  #target(chat: string): string {
    return `${this.#options.channel}:${chat}`;
  }

  async #root(chat: string): Promise<Agent | null> {
    const id = await this.memory.get(sessionKey(chat));
    const root = id === null ? null : await this.#options.store.agent(id);
    return root === null || isTerminal(root.state.type) ? null : root;
  }

  async #begin(chat: string): Promise<Agent> {
    const { runtime, session, channel } = this.#options;
    const { config, limits } = session();
    const root = await runtime.begin({
      name: `${channel}-${chat}`,
      session_key: sessionOf(channel, chat),
      config: { ...config, channel: this.#target(chat) },
      limits,
    });
    await this.memory.set(sessionKey(chat), root.id);
    return root;
  }
}

interface Watched {
  readonly chat: string;
  text: string;
  doing: string | null;
}

function sessionOf(channel: string, chat: string): string {
  return `agent:main:${channel}:${chat}`;
}

function sessionKey(chat: string): string {
  return `session:${chat}`;
}
