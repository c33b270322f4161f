import { withDeeds } from '../text/untrusted-text.ts';
import { toldAsInterrupted } from './answer-ending.ts';
import { type Checkpoint, checkpointText, type Elision, elided, type Spoken } from './checkpoint.ts';
import { assistantText } from './child-text.ts';
import { typedText } from './facts/message-facts.ts';
import type {
  AssistantContent,
  CallPart,
  EventContent,
  PlacedMessage,
  ResultContent,
  UserContent,
} from './message.ts';
import {
  describeMessage,
  isLeftOut,
  type PromptMessage,
  sizeOf,
  withoutContent,
  withoutOutput,
} from './prompt-message.ts';
import {
  type Cuts,
  lineageOf,
  NOTHING_SHARED,
  once,
  type SharedPrefix,
  type SpokenList,
  spokenIn,
  spokenList,
} from './shared-prefix.ts';

/** Answers every call of the forking message, identically for all children so that they share a cached prefix. */
export const FORK_PLACEHOLDER = 'Not for you: your parent gets the result.';

/**
 * Builds what a model sees, message by message. The one place that filters out the kinds for people (`event`, `capture`).
 * Appending and forking are O(1), so a growing prompt is never rebuilt.
 */
export class Prompt {
  #shared: SharedPrefix;
  #own: PromptMessage[] = [];
  /** Number of messages at the start of `#own` that come from an ancestor. */
  #inherited = 0;
  /** Index in `#own` of the newest message addressed to the agent. */
  #spoken_to = 0;
  /** Calls of the newest assistant message and their results, until all calls are answered. */
  #open: { calls: CallPart[]; results: ResultContent[] } | null = null;
  readonly #seqs: WeakMap<object, number>;
  #spoken: SpokenList | null;
  #cuts: Cuts;
  /** Null: must be recomputed. */
  #characters: number | null;

  constructor(shared: SharedPrefix = NOTHING_SHARED) {
    this.#shared = shared;
    const { seqs, spoken, cuts, characters } = lineageOf(shared);
    this.#seqs = seqs;
    this.#spoken = spoken;
    this.#cuts = cuts;
    this.#characters = characters;
  }

  /** Counts of how the history was shortened. */
  get cuts(): Cuts {
    return this.#cuts;
  }

  /** Approximate size of all messages, in characters. */
  get characters(): number {
    this.#characters ??= this.messages().reduce((sum, message) => sum + sizeOf(message), 0);
    return this.#characters;
  }

  /** Seq of a user or assistant message, or of a result; undefined if it replaces several rows, or was shortened or left out. */
  seqOf(part: PromptMessage | ResultContent): number | undefined {
    return this.#seqs.get(part);
  }

  /** Messages from people, the task and the identity message, oldest first, including those that a checkpoint replaced. */
  get spoken(): readonly Spoken[] {
    return spokenIn(this.#spoken);
  }

  /** Number of leading messages shared with an ancestor. */
  get shared(): number {
    return this.#shared.length;
  }

  append(message: Pick<PlacedMessage, 'kind' | 'content'> & Partial<Pick<PlacedMessage, 'seq'>>): void {
    const { seq } = message;
    switch (message.kind) {
      case 'user': {
        const { origin, text, images, facts } = message.content as UserContent;
        if (origin !== 'system') this.#spoken_to = this.#own.length;
        if (seq !== undefined && origin !== 'system' && origin !== 'mail')
          this.#spoken = {
            ...{ seq, origin, text: typedText(text, facts?.attached), left_out: 0 },
            before: this.#spoken,
          };
        const arrived = facts?.arrived;
        this.#push({ role: 'user', text, ...(images && { images }), ...(arrived && { arrived }) }, seq);
        return;
      }
      case 'assistant': {
        const content = message.content as AssistantContent;
        const { model, finish } = content;
        // Providers keep refusing while a refused answer is in the conversation. Its calls never ran and are dropped too.
        if (finish === 'refused') {
          this.#open = null;
          return;
        }
        const parts = finish === 'interrupted' ? toldAsInterrupted(content) : content.parts;
        const calls = parts.filter((part) => part.type === 'call');
        // Providers refuse an answer without parts.
        if (parts.length > 0) this.#push({ role: 'assistant', model, parts }, seq);
        this.#cuts = { ...this.#cuts, answers: this.#cuts.answers + 1 };
        this.#open = calls.length > 0 ? { calls, results: [] } : null;
        return;
      }
      case 'result': {
        if (this.#open === null) return;
        // `file` and `facts` are not for models.
        const { file: _, facts: __, did, ...told } = message.content as ResultContent;
        const result = did === undefined ? told : { ...told, output: withDeeds(told.output, did) };
        if (seq !== undefined) this.#seqs.set(result, seq);
        this.#open.results.push(result);
        if (this.#open.results.length === this.#open.calls.length) this.#answer(this.#open);
        return;
      }
      case 'event':
        this.#cut(message.content as EventContent);
        return;
      case 'capture':
        return;
    }
  }

  #push(message: PromptMessage, seq?: number): void {
    if (seq !== undefined) this.#seqs.set(message, seq);
    if (this.#characters !== null) this.#characters += sizeOf(message);
    this.#own.push(message);
  }

  #cut({ event, data }: EventContent): void {
    if (event === 'left-out') this.leaveOut(typeof data?.behind === 'number' ? data.behind : 0);
    if (event === 'elided') this.#elide(data as unknown as Elision);
    if (event === 'checkpoint') this.#checkpoint(data as unknown as Checkpoint);
  }

  #elide(elision: Elision): void {
    const shorter = (messages: readonly PromptMessage[]) =>
      messages.map((message): PromptMessage => {
        if (message.role !== 'results') return message;
        const results = message.results.map((one) => elided(one, this.#seqs.get(one), elision));
        return results.every((one, at) => one === message.results[at])
          ? message
          : { role: 'results', results };
      });
    const { length, messages } = this.#shared;
    this.#shared = { length, messages: once(() => shorter(messages())) };
    this.#own = shorter(this.#own);
    this.#cuts = { ...this.#cuts, elisions: this.#cuts.elisions + 1 };
    this.#characters = null;
  }

  /** Replaces all messages up to and including `through` by one message. */
  #checkpoint(checkpoint: Checkpoint): void {
    const { through, number, spoken } = checkpoint;
    const all = this.messages();
    const first = all.findIndex((message) => (this.#seqs.get(message) ?? 0) > through);
    const from = first < 0 ? all.length : first;
    const stand_in: PromptMessage = { role: 'user', text: checkpointText(checkpoint) };
    const { length, messages } = this.#shared;
    if (from < length) {
      const rest = once(() => [stand_in, ...messages().slice(from)]);
      this.#shared = { length: length - from + 1, messages: rest };
    } else {
      const gone = from - length;
      this.#shared = NOTHING_SHARED;
      this.#own = [stand_in, ...this.#own.slice(gone)];
      this.#inherited = Math.max(0, this.#inherited - gone) + 1;
      this.#spoken_to = Math.max(0, this.#spoken_to - gone + 1);
    }
    const later = this.spoken.filter(({ seq }) => seq > through);
    this.#spoken = spokenList([...spoken, ...later]);
    this.#cuts = { checkpoints: number, answers: 0, elisions: 0 };
    this.#characters = null;
  }

  /** Leaves out the message followed by `behind` others; the newest if `behind` is 0 or it is missing or already empty. Returns a description for people. */
  leaveOut(behind = 0): string | null {
    this.#characters = null;
    const index = this.#shared.length + this.#own.length - 1 - behind;
    const message = behind > 0 ? this.messages()[index] : undefined;
    const blank = message === undefined ? null : withoutContent(message);
    if (message === undefined || blank === null) return this.#leaveOutNewest();
    this.#open = null;
    // Messages from `index` on are no longer part of the prefix shared with relatives.
    const { length, messages } = this.#shared;
    if (index < length) {
      const inherited = messages().slice(index, length);
      this.#shared = { length: index, messages: () => messages().slice(0, index) };
      this.#own = [...inherited, ...this.#own];
      this.#inherited += inherited.length;
      this.#spoken_to += inherited.length;
    }
    this.#own = this.#own.with(index - this.#shared.length, blank);
    return describeMessage(message);
  }

  /**
   * Leaves out the newest message and describes it; null if there is none. Calls never remain without results: the first time only the output
   * of the results is removed, the next time the results together with their calls.
   */
  #leaveOutNewest(): string | null {
    this.#open = null;
    const last = this.#pop();
    if (last === undefined) return null;
    if (last.role !== 'results') return describeMessage(last);
    if (!last.results.every(isLeftOut)) {
      this.#own = [...this.#own, { role: 'results', results: last.results.map(withoutOutput) }];
      return describeMessage(last);
    }
    const calls = this.#pop();
    return calls === undefined ? describeMessage(last) : describeMessage(calls);
  }

  /** Removes the newest message. Copies instead of mutating, because forks build their prefixes from these arrays later. */
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

  /** The messages so far; the calls of the last one may still lack results. */
  messages(): readonly PromptMessage[] {
    return this.#shared.length === 0 ? [...this.#own] : [...this.#shared.messages(), ...this.#own];
  }

  /** Assistant texts of the agent's own messages, oldest first: all, or those since the newest message addressed to it. */
  said(since: 'beginning' | 'spoken-to'): string[] {
    const own = this.#own.slice(since === 'beginning' ? this.#inherited : this.#spoken_to);
    return own.flatMap((message) => (message.role === 'assistant' ? [assistantText(message)] : []));
  }

  /** The prefix of every fork at this point; each open call of the newest assistant message is answered with the same placeholder. */
  forked(): SharedPrefix {
    const [shared, own, length] = [this.#shared, this.#own, this.#own.length];
    const placeholders: PromptMessage[] =
      this.#open === null ? [] : [{ role: 'results', results: this.#open.calls.map(placeholder) }];
    const added = placeholders.reduce((sum, message) => sum + sizeOf(message), 0);
    const characters = this.#characters === null ? null : this.#characters + added;
    return {
      length: shared.length + length + placeholders.length,
      lineage: { seqs: this.#seqs, spoken: this.#spoken, cuts: this.#cuts, characters },
      // The array `own` is only appended to, so the result does not depend on when it is built.
      messages: once(() => [...shared.messages(), ...own.slice(0, length), ...placeholders]),
    };
  }

  /** Appends the results in call order, independent of settling order. */
  #answer(open: { calls: CallPart[]; results: ResultContent[] }): void {
    const byId = new Map(open.results.map((result) => [result.call_id, result]));
    const results = open.calls.flatMap((call) => byId.get(call.id) ?? []);
    this.#push({ role: 'results', results });
    this.#open = null;
  }
}

function placeholder(call: CallPart): ResultContent {
  return { call_id: call.id, name: call.name, status: 'ok', output: FORK_PLACEHOLDER };
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
