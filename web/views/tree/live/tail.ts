import type { EventDocument } from '../../../../src/documents/shapes/event-documents.ts';
import type { ResultFacts } from '../../../../src/records/conversation/facts/message-facts.ts';
import { nameOf } from '../../../../src/records/run/outcome.ts';
import { request } from '../../../data/api.ts';
import { plainWords } from '../../../data/texts.ts';
import type { FullAgent, Message, Messages } from '../../agent/agent.tsx';
import { subjectOf } from '../../agent/message.tsx';

const MESSAGES = 30;
/** Of long texts, the end: a tail is read from below. */
const LETTERS = 4_000;

/** A piece of the tail. */
export interface TailLine {
  readonly key: string;
  readonly kind: 'told' | 'said' | 'thought' | 'call' | 'output' | 'event';
  readonly text: string;
  /** Whether it is still being written. */
  readonly lives: boolean;
}

/** The end of one agent's conversation, with what its model is writing and its commands are printing. */
export class Tail {
  #messages: Message[] = [];
  #live: { kind: TailLine['kind']; text: string }[] = [];
  #lines: readonly TailLine[] | null = null;

  async load(agent: string): Promise<void> {
    const { messages: count } = await request<FullAgent>('GET', `/v1/agents/${agent}`);
    const path = `/v1/agents/${agent}/messages?after=${Math.max(0, count - MESSAGES)}&limit=${MESSAGES}`;
    const { messages } = await request<Messages>('GET', path);
    for (const message of messages) this.#put(message);
  }

  take({ type, message, delta, text }: EventDocument): void {
    if (type === 'message' && message !== undefined) {
      this.#put(message as Message);
      this.#live = [];
    } else if (type === 'output' && text !== undefined) this.#write('output', text);
    else if (delta?.type === 'text') this.#write('said', delta.text);
    else if (delta?.type === 'reasoning') this.#write('thought', delta.text);
    else if (delta?.type === 'call') this.#live.push({ kind: 'call', text: delta.name });
    else if (delta?.type === 'restart') this.#live = [];
    else if (delta?.type === 'waiting') this.#live.push({ kind: 'event', text: delta.reason });
    this.#lines = null;
  }

  lines(): readonly TailLine[] {
    this.#lines ??= [
      ...this.#messages.flatMap(linesOf),
      ...this.#live.map(({ kind, text }, index) => ({ key: `live ${index}`, kind, text, lives: true })),
    ];
    return this.#lines;
  }

  #put(message: Message): void {
    const others = this.#messages.filter(({ seq }) => seq !== message.seq);
    this.#messages = [...others, message].sort((a, b) => a.seq - b.seq).slice(-MESSAGES);
    this.#lines = null;
  }

  #write(kind: TailLine['kind'], text: string): void {
    const last = this.#live.at(-1);
    if (last?.kind === kind) last.text = (last.text + text).slice(-LETTERS);
    else this.#live.push({ kind, text: text.slice(-LETTERS) });
  }
}

function linesOf(message: Message): readonly TailLine[] {
  const line = (kind: TailLine['kind'], text: string, at = 0): TailLine => ({
    key: `${message.seq} ${at}`,
    kind,
    text: text.length <= LETTERS ? text : `…${text.slice(-LETTERS)}`,
    lives: false,
  });
  if (message.kind === 'assistant')
    return message.content.parts.map((part, at) => {
      if (part.type === 'call') return line('call', `${part.name} ${subjectOf(part.input)}`, at);
      return line(part.type === 'reasoning' ? 'thought' : 'said', part.text, at);
    });
  if (message.kind === 'result') return [line('output', outputOf(message.content))];
  return [line(message.kind === 'user' ? 'told' : 'event', message.content.text)];
}

/** What a call came to: of a wait a line an agent, and an object in one line without the marks of JSON. */
function outputOf({ output, facts }: { readonly output: string; readonly facts?: unknown }): string {
  const { waited } = (facts ?? {}) as ResultFacts;
  if (waited === undefined) return /^\{"\w+":.*\}$/.test(output) ? plainWords(output) : output;
  return waited.rows
    .map(
      ({ name, status, ...said }) =>
        `${name}: ${said.message ?? said.last_reply ?? said.error ?? nameOf(status)}`,
    )
    .join('\n');
}
