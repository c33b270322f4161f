import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { FileChange } from '../../store/read-records.ts';
import type { Store } from '../../store/store.ts';

const PAGE = 40;
/** Maximum changes of a file that are looked through for the one that somebody read, the newest. */
const CHANGES_MAX = 500;
const ENDS: ReadonlySet<string> = new Set(['error', 'killed', 'interrupted']);

export type Answer = Extract<PlacedMessage, { kind: 'assistant' }>;

export function callsOf({ content }: Answer): readonly CallPart[] {
  return content.parts.filter((part) => part.type === 'call');
}

/** Whether no other answer of its turn follows. */
export function isLast(answer: Answer): boolean {
  const calls = callsOf(answer);
  return calls.length === 0
    ? answer.content.finish !== 'length'
    : calls.some(({ name }) => /^submit_/.test(name));
}

/** The ledger as one looks back in it: conversations are read from their end, page by page, and nothing is read twice. */
export class Past {
  readonly #store: Store;
  readonly #read = new Map<string, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  agent(id: string): Promise<Agent | null> {
    return this.#once(`agent ${id}`, () => this.#store.agent(id));
  }

  /** All that was ever addressed to the agent, and, in a tree that goes on where another one was, to the agent that it was there. */
  async mail({ id, parent_id, forked_from }: Agent): Promise<readonly Mail[]> {
    const own = await this.#once(`mail ${id}`, () => this.#store.mail(id, true));
    if (forked_from === null || forked_from.agent_id === parent_id) return own;
    const was = await this.agent(forked_from.agent_id);
    const read = was === null ? [] : await this.mail(was);
    return [...read.filter(({ consumed_seq }) => (consumed_seq ?? Infinity) <= forked_from.seq), ...own];
  }

  /** Calls that changed a file, newest first. */
  changes(path: string): Promise<readonly FileChange[]> {
    return this.#once(`file ${path}`, () => this.#store.fileChanges(path, CHANGES_MAX));
  }

  async message(agent_id: string, seq: number): Promise<PlacedMessage | undefined> {
    for await (const one of this.before(agent_id, seq + 1)) return one.seq === seq ? one : undefined;
    return undefined;
  }

  /** The messages before `seq`, newest first, inherited ones too. */
  async *before(agent_id: string, seq: number): AsyncGenerator<PlacedMessage> {
    for (let page = Math.floor((seq - 2) / PAGE); page >= 0; page -= 1) {
      const read = () => this.#store.history(agent_id, page * PAGE, PAGE);
      const messages = await this.#once(`page ${page} ${agent_id}`, read);
      yield* messages.filter((one) => one.seq < seq).reverse();
    }
  }

  /** The last answer before `seq`. */
  async answerBefore(agent_id: string, seq: number): Promise<Answer | undefined> {
    for await (const one of this.before(agent_id, seq)) if (one.kind === 'assistant') return one;
    return undefined;
  }

  /**
   * The answer by which an agent did something at a time: the one whose call has a result of that time, if there is one, because the next answer may
   * have come in the same millisecond; else the newest one by then.
   */
  async answerAt({ id, last_seq }: Agent, at: number): Promise<Answer | undefined> {
    let newest: Answer | undefined;
    for await (const one of this.before(id, last_seq + 1)) {
      if (one.at > at) continue;
      if (one.kind === 'result' && one.at === at) return this.answerBefore(id, one.seq);
      if (one.kind === 'assistant') newest ??= one;
      if (newest !== undefined && one.at < at) return newest;
    }
    return newest;
  }

  /** The answer with which a turn of the agent ended at a time or, because what happens is recorded a little later, soon after it. */
  async lastWords({ id, last_seq }: Agent, at: number): Promise<Answer | undefined> {
    let before = last_seq + 1;
    for await (const one of this.before(id, last_seq + 1)) {
      if (one.at < at) break;
      const is_end =
        one.kind === 'assistant' ? isLast(one) : one.kind === 'event' && ENDS.has(one.content.event);
      if (is_end) before = one.seq + 1;
    }
    return this.answerBefore(id, before);
  }

  #once<Read>(what: string, read: () => Promise<Read>): Promise<Read> {
    return keptIn(this.#read, what, read) as Promise<Read>;
  }
}
