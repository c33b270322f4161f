import type { AgentLine, ChannelMemory, ChatEvent, ChatSessions } from '../../src/channels/channel.ts';
import { proposeRules } from '../../src/permissions/grants/propose-rules.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';

interface SaidMessage {
  readonly chat: string;
  readonly id: string;
  readonly from: string;
  readonly text: string;
}

type Answer = Parameters<ChatSessions['answer']>[2];

/** In-memory `ChatSessions` for one test; keeps the contract and can be unreachable, as a ledger can. */
export class MemoryChatSessions implements ChatSessions {
  /** Number of next calls that fail as if the ledger were unreachable. */
  away = 0;
  /** Number of calls made while the ledger was unreachable. */
  missed = 0;
  readonly said: SaidMessage[] = [];
  readonly kept = new Map<string, string>();
  readonly answers: (Answer & { readonly ask: string; readonly chat: string })[] = [];
  readonly killed: string[] = [];
  readonly renewed: string[] = [];
  readonly interrupted: string[] = [];
  /** The agents of each chat. */
  readonly lines = new Map<string, AgentLine[]>();
  readonly open = new Map<string, Ask[]>();
  readonly #listeners = new Set<(event: ChatEvent) => void>();
  /** The error with which `say` rejects; null: it succeeds. */
  refusal: Error | null = null;

  readonly memory: ChannelMemory = {
    get: async (key) => {
      this.#reach();
      return this.kept.get(key) ?? null;
    },
    set: async (key, value) => {
      this.#reach();
      if (value === null) this.kept.delete(key);
      else this.kept.set(key, value);
    },
  };

  async say(chat: string, message: Omit<SaidMessage, 'chat'>): Promise<void> {
    this.#reach();
    if (this.refusal !== null) throw this.refusal;
    if (this.said.some(({ id }) => id === message.id)) return;
    this.said.push({ chat, ...message });
  }

  async renew(chat: string): Promise<boolean> {
    this.#reach();
    this.renewed.push(chat);
    return this.lines.delete(chat);
  }

  async agents(chat: string): Promise<readonly AgentLine[]> {
    this.#reach();
    return this.lines.get(chat) ?? [];
  }

  async kill(chat: string, agent: string): Promise<{ readonly name: string; readonly descendants: number }> {
    this.#reach();
    const lines = this.lines.get(chat) ?? [];
    const index = lines.findIndex(
      ({ name, id }) => name === agent || (agent.length >= 4 && id.startsWith(agent)),
    );
    const found = lines[index];
    if (found === undefined)
      throw new CoppiceError('E_AGENT_NOT_FOUND', `no agent called "${agent}"`, { hint: 'See: /agents' });
    let end = index + 1;
    while ((lines[end]?.depth ?? 0) > found.depth) end += 1;
    lines.splice(index, end - index);
    this.killed.push(found.name);
    return { name: found.name, descendants: end - index - 1 };
  }

  async interrupt(chat: string): Promise<boolean> {
    this.#reach();
    this.interrupted.push(chat);
    return this.lines.get(chat)?.[0]?.status === 'running';
  }

  async asks(chat: string): Promise<readonly Ask[]> {
    this.#reach();
    return (this.open.get(chat) ?? []).filter(({ verdict }) => verdict === null);
  }

  async answer(chat: string, id: string, answer: Answer): Promise<Ask> {
    this.#reach();
    const asks = this.open.get(chat) ?? [];
    const index = asks.findIndex((ask) => ask.id === id || (id.length >= 4 && ask.id.startsWith(id)));
    const ask = asks[index];
    if (ask === undefined) throw new CoppiceError('E_ASK_NOT_FOUND', `no approval "${id}"`);
    if (ask.verdict !== null)
      throw new CoppiceError('E_ASK_ANSWERED', 'the question was already answered or is gone');
    const { verdict, scope, note, by } = answer;
    const { rules, first } = proposeRules(ask);
    const granted = scope === 'once' ? null : (rules[first] ?? null);
    const answered = { ...ask, verdict, scope, note, granted, answered_by: by, answered_at: 1 };
    asks[index] = answered;
    this.answers.push({ ...answer, ask: ask.id, chat });
    return answered;
  }

  watch(listener: (event: ChatEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  emit(event: ChatEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #reach(): void {
    if (this.away <= 0) return;
    this.away -= 1;
    this.missed += 1;
    throw new CoppiceError('E_DATABASE', 'the database cannot be reached', { retryable: true });
  }
}
