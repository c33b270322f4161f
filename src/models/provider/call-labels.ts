import { hash } from 'node:crypto';
import type { AssistantPart, CallPart } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';

type Answer = Extract<PromptMessage, { role: 'assistant' }>;
type Results = Extract<PromptMessage, { role: 'results' }>;

interface Label {
  readonly id: string;
  readonly name: string;
}

/** The characters that every provider accepts. */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The strictest provider (Mistral) requires ids of exactly this many letters and digits. */
const ID_LENGTH = 9;

/**
 * Rewrites call ids and names so that the model's provider accepts them: well-formed, and ids unique in the conversation. Histories contain ids made up
 * by other models, which a provider may refuse. A label depends only on the call and the messages before it, so related agents send identical
 * prefixes, and a message is sent identically every time.
 */
export class CallLabels {
  readonly #model: string;
  readonly #trusts_own: boolean;
  /** Related agents share the message objects of their prefix: converted messages must be shared, too. */
  readonly #labelled = new WeakMap<
    PromptMessage,
    { readonly key: string; readonly message: PromptMessage }
  >();

  /** `trusts_own`: ids created by the model itself are kept unchanged; all others are rewritten. */
  constructor(model: string, trusts_own: boolean) {
    this.#model = model;
    this.#trusts_own = trusts_own;
  }

  apply(messages: readonly PromptMessage[]): readonly PromptMessage[] {
    const used = new Set<string>();
    let newest: readonly Label[] = [];
    return messages.map((message) => {
      if (message.role === 'user') return message;
      if (message.role === 'results') return this.#keep(message, newest, withResults);
      newest = callsOf(message).map((call) => this.#label(call, message.model === this.#model, used));
      return newest.length === 0 ? message : this.#keep(message, newest, withCalls);
    });
  }

  #label({ id, name }: CallPart, own: boolean, used: Set<string>): Label {
    const fits = this.#trusts_own ? own && id !== '' : ID.test(id);
    const label = fits && !used.has(id) ? id : freshId(id, used);
    used.add(label);
    return { id: label, name: NAME.test(name) ? name : plainName(name) };
  }

  #keep<T extends PromptMessage>(
    message: T,
    labels: readonly Label[],
    relabelled: (message: T, labels: readonly Label[]) => T,
  ): PromptMessage {
    const key = labels.map(({ id, name }) => `${id} ${name}`).join('\n');
    let known = this.#labelled.get(message);
    if (known?.key !== key) {
      known = { key, message: relabelled(message, labels) };
      this.#labelled.set(message, known);
    }
    return known.message;
  }
}

function callsOf({ parts }: Answer): CallPart[] {
  return parts.filter((part): part is CallPart => part.type === 'call');
}

function withCalls(message: Answer, labels: readonly Label[]): Answer {
  let index = 0;
  const parts = message.parts.map((part): AssistantPart => {
    if (part.type !== 'call') return part;
    const label = labels[index] as Label;
    index += 1;
    return { ...part, ...label };
  });
  return { ...message, parts };
}

/** Results are in the order of the calls (`records/conversation/prompt.ts`). */
function withResults(message: Results, labels: readonly Label[]): Results {
  const results = message.results.map((result, index) => {
    const label = labels[index];
    return label === undefined ? result : { ...result, call_id: label.id, name: label.name };
  });
  return { ...message, results };
}

function freshId(id: string, used: ReadonlySet<string>): string {
  for (let salt = used.size; ; salt += 1) {
    const digest = hash('sha256', `${salt}\n${id}`, 'buffer');
    const fresh = Array.from({ length: ID_LENGTH }, (_, at) => ALPHABET[digest[at]! % ALPHABET.length]).join(
      '',
    );
    if (!used.has(fresh)) return fresh;
  }
}

function plainName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 63);
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}
