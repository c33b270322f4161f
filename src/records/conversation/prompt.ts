import { excerpt } from '../text/text.ts';
import { toldAsInterrupted } from './answer-ending.ts';
import { textOf } from './child-text.ts';
import type {
  AssistantContent,
  AssistantPart,
  CallPart,
  EventContent,
  Image,
  PlacedMessage,
  ResultContent,
  UserContent,
} from './message.ts';

/** A conversation as a model sees it: only kinds that may reach a provider, with results grouped per assistant message. */
export type PromptMessage =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly Image[] }
  | { readonly role: 'assistant'; readonly model: string; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'results'; readonly results: readonly ResultContent[] };

/** Answers every call of the forking message, identically for all children so that they share a cached prefix. */
export const FORK_PLACEHOLDER =
  'You are a fork of the agent that made this call. Its result goes to that agent, not to you.';

/** Replaces results that a person left out. */
export const LEFT_OUT_RESULT = 'This result was left out: the provider refused to take it.';

const LEFT_OUT_MESSAGE = 'This message was left out: the provider refused to take it.';

/** The prefix that related agents share: built once, on the first request of any of them, and immutable. */
export interface SharedPrefix {
  readonly length: number;
  readonly messages: () => readonly PromptMessage[];
}

const NOTHING_SHARED: SharedPrefix = { length: 0, messages: () => [] };

/**
 * Builds what a model sees, message by message. The one place that filters out the kinds for people (`event`, `capture`).
 * Appending and forking are O(1), so a growing prompt is never rebuilt.
 */
export class Prompt {
  #shared: SharedPrefix;
  #own: PromptMessage[] = [];
  /** How many of them come from an ancestor. */
  #inherited = 0;
  /** Index of the newest message addressed to it. */
  #spoken_to = 0;
  /** Calls of the newest assistant message and their results, until all calls are answered. */
  #open: { calls: CallPart[]; results: ResultContent[] } | null = null;

  constructor(shared: SharedPrefix = NOTHING_SHARED) {
    this.#shared = shared;
  }

  /** How many leading messages are shared with an ancestor. */
  get shared(): number {
    return this.#shared.length;
  }

  append(message: Pick<PlacedMessage, 'kind' | 'content'>): void {
    switch (message.kind) {
      case 'user': {
        const { origin, text, images } = message.content as UserContent;
        if (origin !== 'system') this.#spoken_to = this.#own.length;
        this.#own.push(images === undefined ? { role: 'user', text } : { role: 'user', text, images });
        return;
      }
      case 'assistant': {
        const content = message.content as AssistantContent;
        const { model, finish } = content;
        // Providers keep refusing while a refused answer is in the conversation. Its calls never ran, so they go, too.
        if (finish === 'refused') {
          this.#open = null;
          return;
        }
        const parts = finish === 'interrupted' ? toldAsInterrupted(content) : content.parts;
        const calls = parts.filter((part) => part.type === 'call');
        // Providers refuse an answer without parts.
        if (parts.length > 0) this.#own.push({ role: 'assistant', model, parts });
        this.#open = calls.length > 0 ? { calls, results: [] } : null;
        return;
      }
      case 'result': {
        if (this.#open === null) return;
        // Not for models, and it may hold a whole file.
        const { file: _, ...result } = message.content as ResultContent;
        this.#open.results.push(result);
        if (this.#open.results.length === this.#open.calls.length) this.#answer(this.#open);
        return;
      }
      case 'event':
        this.#leftOut(message.content as EventContent);
        return;
      case 'capture':
        return;
    }
  }

  #leftOut({ event, data }: EventContent): void {
    if (event === 'left-out') this.leaveOut(typeof data?.behind === 'number' ? data.behind : 0);
  }

  /** Leaves out the message followed by `behind` others; the newest one if there is none, or if it is already empty. Returns a description for people. */
  leaveOut(behind = 0): string | null {
    const index = this.#shared.length + this.#own.length - 1 - behind;
    const message = behind > 0 ? this.messages()[index] : undefined;
    const blank = message === undefined ? null : withoutContent(message);
    if (message === undefined || blank === null) return this.#leaveOutNewest();
    this.#open = null;
    // What follows it is no longer a prefix shared with relatives.
    const { length, messages } = this.#shared;
    if (index < length) {
      const inherited = messages().slice(index, length);
      this.#shared = { length: index, messages: () => messages().slice(0, index) };
      this.#own = [...inherited, ...this.#own];
      this.#inherited += inherited.length;
      this.#spoken_to += inherited.length;
    }
    this.#own = this.#own.with(index - this.#shared.length, blank);
    return described(message);
  }

  /**
   * Leaves out the newest message and describes it; null if there is none. Calls stay answered: first only the output of their results is
   * removed, the next time the calls with them.
   */
  #leaveOutNewest(): string | null {
    this.#open = null;
    const last = this.#pop();
    if (last === undefined) return null;
    if (last.role !== 'results') return described(last);
    if (!last.results.every(isLeftOut)) {
      this.#own = [...this.#own, { role: 'results', results: last.results.map(withoutOutput) }];
      return described(last);
    }
    const calls = this.#pop();
    return calls === undefined ? described(last) : described(calls);
  }

  /** Copies instead of mutating: forks build their prefixes from the arrays later. */
  #pop(): PromptMessage | undefined {
    if (this.#own.length === 0) {
      const { length, messages } = this.#shared;
      this.#own = messages().slice(length - 1, length);
      this.#shared = {
        length: Math.max(length - 1, 0),
        messages: () => messages().slice(0, Math.max(length - 1, 0)),
      };
    }
    const last = this.#own.at(-1);
    this.#own = this.#own.slice(0, -1);
    return last;
  }

  /** The messages so far; calls without a result are unanswered at the end. */
  messages(): readonly PromptMessage[] {
    return this.#shared.length === 0 ? [...this.#own] : [...this.#shared.messages(), ...this.#own];
  }

  /** The newest message addressed to it, and whether its own conversation began with that message. */
  get spokenTo(): { readonly text: string; readonly first: boolean } {
    const newest = this.#own[this.#spoken_to];
    const first = this.#shared.length === 0 && this.#spoken_to === 0;
    return { text: newest?.role === 'user' ? newest.text : '', first };
  }

  /** Assistant texts of its own part, oldest first: all of them, or those since the newest message addressed to it. */
  said(since: 'beginning' | 'spoken-to'): string[] {
    const own = this.#own.slice(since === 'beginning' ? this.#inherited : this.#spoken_to);
    return own.flatMap((message) => (message.role === 'assistant' ? [textOf(message)] : []));
  }

  /** The prefix of every fork at this point: all calls of the newest assistant message get the same placeholder. */
  forked(): SharedPrefix {
    const [shared, own, length] = [this.#shared, this.#own, this.#own.length];
    const placeholders: PromptMessage[] =
      this.#open === null ? [] : [{ role: 'results', results: this.#open.calls.map(placeholder) }];
    let built: readonly PromptMessage[] | null = null;
    return {
      length: shared.length + length + placeholders.length,
      messages: () => {
        // Own messages are append-only, so the result does not depend on when it is built.
        built ??= [...shared.messages(), ...own.slice(0, length), ...placeholders];
        return built;
      },
    };
  }

  /** Results in call order, independent of settling order. */
  #answer(open: { calls: CallPart[]; results: ResultContent[] }): void {
    const byId = new Map(open.results.map((result) => [result.call_id, result]));
    const results = open.calls.flatMap((call) => byId.get(call.id) ?? []);
    this.#own.push({ role: 'results', results });
    this.#open = null;
  }
}

function placeholder(call: CallPart): ResultContent {
  return { call_id: call.id, name: call.name, status: 'ok', output: FORK_PLACEHOLDER };
}

function isLeftOut({ output, images }: ResultContent): boolean {
  return output === LEFT_OUT_RESULT && images === undefined;
}

function withoutOutput({ call_id, name, status }: ResultContent): ResultContent {
  return { call_id, name, status, output: LEFT_OUT_RESULT };
}

/** The message without the content that the provider may have refused, keeping the structure around it; null if it has none left. */
function withoutContent(message: PromptMessage): PromptMessage | null {
  switch (message.role) {
    case 'user':
      return message.text === LEFT_OUT_MESSAGE ? null : { role: 'user', text: LEFT_OUT_MESSAGE };
    case 'results':
      return message.results.every(isLeftOut)
        ? null
        : { role: 'results', results: message.results.map(withoutOutput) };
    case 'assistant': {
      const { role, model } = message;
      const calls = message.parts.flatMap((part) => (part.type === 'call' ? [{ ...part, input: '{}' }] : []));
      const parts = calls.length > 0 ? calls : [{ type: 'text' as const, text: LEFT_OUT_MESSAGE }];
      return JSON.stringify(parts) === JSON.stringify(message.parts) ? null : { role, model, parts };
    }
  }
}

/** For people. */
function described(message: PromptMessage): string {
  if (message.role === 'user') return `the message ${excerpt(message.text)}`;
  if (message.role === 'results')
    return `what ${[...new Set(message.results.map(({ name }) => name))].join(', ')} returned`;
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = message.parts.flatMap((part) => (part.type === 'call' ? [part.name] : []));
  return calls.length === 0 ? `the answer ${excerpt(text)}` : `the calls of ${calls.join(', ')}`;
}

/** The prompt of a composed history: at each fork point the ancestor's open calls are answered with the placeholder. */
export function promptOf(history: readonly PlacedMessage[]): Prompt {
  let prompt = new Prompt();
  let owner: string | null = null;
  for (const message of history) {
    if (owner !== null && message.agent_id !== owner) prompt = new Prompt(prompt.forked());
    owner = message.agent_id;
    prompt.append(message);
  }
  return prompt;
}
