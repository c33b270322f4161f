import { createHash } from 'node:crypto';
import type { AssistantPart, CallPart } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt.ts';

type Answer = Extract<PromptMessage, { role: 'assistant' }>;
type Results = Extract<PromptMessage, { role: 'results' }>;

interface Label {
  readonly id: string;
  readonly name: string;
}

/** What every provider takes; some take more. */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The strictest of them (Mistral's) takes ids of exactly so many letters and digits. */
const ID_LENGTH = 9;

/**
 * Ids and names of calls as the provider of one model takes them: well-formed, and no id twice in a conversation. Histories hold what their
 * own models made up: another provider may refuse it, and so may the same one when it comes again. A label follows from the call
 * and what stands before it alone, so relatives send the same bytes, and what was sent once is sent the same again.
 */
export class CallLabels {
  readonly #model: string;
  readonly #trusts_own: boolean;
  /** Relatives share the objects of their common prefix: what is converted by object later must stay one. */
  readonly #labelled = new WeakMap<
    PromptMessage,
    { readonly key: string; readonly message: PromptMessage }
  >();

  /** `trusts_own`: ids that the model made itself go back as they are, whatever they look like; all others get our plainest form. */
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

/** Results stand in the order of the calls (`core/prompt.ts`). */
function withResults(message: Results, labels: readonly Label[]): Results {
  const results = message.results.map((result, index) => {
    const label = labels[index];
    return label === undefined ? result : { ...result, call_id: label.id, name: label.name };
  });
  return { ...message, results };
}

function freshId(id: string, used: ReadonlySet<string>): string {
  for (let salt = used.size; ; salt += 1) {
    const hash = createHash('sha256').update(`${salt}\n${id}`).digest();
    const fresh = Array.from({ length: ID_LENGTH }, (_, at) => ALPHABET[hash[at]! % ALPHABET.length]).join(
      '',
    );
    if (!used.has(fresh)) return fresh;
  }
}

function plainName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 63);
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}
