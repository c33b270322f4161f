import { type Room, relief } from '../../kernel/context/context-relief.ts';
import type { EventOf } from '../../kernel/transition/event.ts';
import type { Model, ModelOutcome } from '../../models/model.ts';
import type { Usage } from '../../records/agent/usage.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { sizeOf } from '../../records/conversation/prompt-message.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Store } from '../../store/store.ts';

/** Configuration of how conversations are kept within the windows of models (docs/context.md). */
export interface ContextOptions {
  /** Fraction of a window that may be filled; default 0.8. */
  readonly share?: number | undefined;
  /** Model that writes the summaries; default: the agent's own. */
  readonly model?: string | undefined;
}

/** A conversation that is about to be sent. */
export interface Sent {
  readonly agent_id: string;
  readonly model: Pick<Model, 'id' | 'context_window'>;
  readonly prompt: Prompt;
  /** Number of characters sent in addition to the messages. */
  readonly overhead: number;
}

export interface Relieved {
  readonly type: 'event';
  readonly event: EventOf<'elide' | 'summarise'>;
  readonly request?: undefined;
}

const STUCK: ModelOutcome = {
  type: 'failure',
  failure: {
    kind: 'context_overflow',
    error:
      'the conversation no longer fits the context window of the model, and nothing is left to summarise: what remains is the system text, the tools, what it was told, and its newest messages. Switch to a model with a larger window (/model, coppice resume --model), or set providers.NAME.models.MODEL.contextWindow if the window is larger than known',
    retryable: true,
  },
};

const SHARE = 0.8;
/** Assumed tokens per character until a provider has counted; slightly more than text has. */
const DENSITY = 0.3;
/** Bounds of a measured density: part of what the provider counts is not text. */
const DENSITY_MIN = 0.2;
const DENSITY_MAX = 1;
/** Minimum characters of a conversation for its density to be measured. */
const COUNTED_MIN = 4_000;
/** Minimum of a window that is inferred from a refusal, in tokens. */
const WINDOW_MIN = 4_000;
/** Match "maximum context length is 8192 tokens", "210000 tokens > 200000 maximum", "exceeds the maximum number of tokens allowed (1048576)". */
const NAMED = [
  /> *([\d,]{4,})/,
  /(?:maximum|limit|window)[^\d.]{0,60}([\d,]{4,})/i,
  /([\d,]{4,}) *tokens? *(?:maximum|limit)/i,
];

/**
 * Room in the context windows of this process's models: known windows, those learnt from
 * refusals, and the density (tokens per character) at which providers count.
 */
export class ContextRoom {
  readonly #share: number;
  /** Windows learnt from refusals, in tokens, by model id. */
  readonly #windows = new Map<string, number>();
  /** Densities by conversation, and the newest by model id. */
  readonly #densities = new WeakMap<Prompt, number>();
  readonly #usual = new Map<string, number>();

  constructor({ share = SHARE }: ContextOptions = {}) {
    this.#share = share;
  }

  #window({ id, context_window }: Sent['model']): number | null {
    return this.#windows.get(id) ?? context_window;
  }

  #density({ model, prompt }: Pick<Sent, 'model' | 'prompt'>): number {
    return this.#densities.get(prompt) ?? this.#usual.get(model.id) ?? DENSITY;
  }

  /** Returns null if the model's window is unknown. */
  room(sent: Sent): Room | null {
    const window = this.#window(sent.model);
    if (window === null) return null;
    return { window: window / this.#density(sent), share: this.#share, overhead: sent.overhead };
  }

  /** Returns the event that makes room, or a failure if that is impossible; null if there is room. `refused`: the provider refused it as too long. */
  relieve(sent: Sent, refused: boolean, at: number): Relieved | ModelOutcome | null {
    const room = this.room(sent);
    const found = room === null ? null : relief(sent.prompt, room, refused);
    if (found === null) return null;
    return found.type === 'stuck' ? STUCK : { type: 'event', event: { ...found, at } };
  }

  /** Measures the density by the newest request in the ledger, if another process made it. Skips conversations under a quarter of the window. */
  async recall(sent: Sent, store: Pick<Store, 'newestRequests'>): Promise<void> {
    const { prompt, overhead, agent_id } = sent;
    const room = this.room(sent);
    if (room === null || this.#densities.has(prompt) || prompt.cuts.answers === 0) return;
    if (overhead + prompt.characters < room.window / 4) return;
    const messages = prompt.messages();
    const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
    const later = messages.slice(answered).reduce((sum, message) => sum + sizeOf(message), 0);
    const usage = (await store.newestRequests(agent_id, 1))[0]?.usage;
    if (usage !== undefined) this.#count(sent, usage, overhead + prompt.characters - later);
  }

  /** Measures the density by the provider's count. Forgets a learnt window that is smaller than this count. */
  counted(sent: Sent, usage: Usage): void {
    const { model, prompt, overhead } = sent;
    if (usage.input > (this.#windows.get(model.id) ?? usage.input)) this.#windows.delete(model.id);
    this.#count(sent, { ...usage, output: 0 }, overhead + prompt.characters);
  }

  #count({ model, prompt }: Sent, { input, output }: Usage, characters: number): void {
    if (characters < COUNTED_MIN) return;
    this.#learn(model, prompt, (input + output) / characters);
  }

  #learn(model: Sent['model'], prompt: Prompt, density: number): void {
    const bounded = Math.min(DENSITY_MAX, Math.max(DENSITY_MIN, density));
    this.#densities.set(prompt, bounded);
    this.#usual.set(model.id, bounded);
  }

  /** Learns the window from a refusal as too long: the size that the refusal names, else the known window, else the estimated size of what was sent. */
  refused(sent: Sent, refusal: string): void {
    const { model, prompt, overhead } = sent;
    const characters = overhead + prompt.characters;
    const density = this.#density(sent);
    const sent_tokens = Math.max(WINDOW_MIN, characters * density);
    const window = namedWindow(refusal) ?? this.#window(model) ?? sent_tokens;
    this.#windows.set(model.id, window);
    // More than the window was sent, which is a lower bound of the density.
    if (characters >= COUNTED_MIN)
      this.#densities.set(prompt, Math.min(DENSITY_MAX, Math.max(density, window / characters)));
  }
}

const SPECS = new WeakMap<ToolSpec, number>();

export function overheadOf(system: string, specs: readonly ToolSpec[]): number {
  const lengths = specs.map((spec) => keptIn(SPECS, spec, () => JSON.stringify(spec).length + 1));
  return lengths.reduce((sum, length) => sum + length, system.length + 1);
}

/** The window that a provider states when it refuses a conversation as too long; null if it states none. */
export function namedWindow(refusal: string): number | null {
  const named = NAMED.map((pattern) => pattern.exec(refusal)?.[1]).find((found) => found !== undefined);
  return named === undefined ? null : Number(named.replaceAll(',', ''));
}
