import { type Room, relief } from '../../kernel/context/relief.ts';
import type { EventOf } from '../../kernel/transition/event.ts';
import type { Model, ModelOutcome } from '../../models/model.ts';
import { namedWindow } from '../../models/provider/context-windows.ts';
import type { Usage } from '../../records/agent/usage.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { sizeOf } from '../../records/conversation/prompt-message.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Store } from '../../store/store.ts';

/** Configuration of how conversations are kept within the windows of models (docs/context.md). */
export interface ContextOptions {
  /** Of a window: what may be filled. Default 0.8. */
  readonly share?: number | undefined;
  /** Writes the summaries; default: the agent's own. */
  readonly model?: string | undefined;
}

/** A conversation that is about to be sent. */
export interface Sent {
  readonly agent_id: string;
  readonly model: Pick<Model, 'id' | 'context_window'>;
  readonly prompt: Prompt;
  /** Characters of what is sent beside the messages. */
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
      'the conversation no longer fits the window of the model, and there is nothing left to summarise: what is left is the system text, the tools, what it was told, and its newest messages. Switch to a model with a larger window (/model, coppice resume --model), or set providers.NAME.models.MODEL.contextWindow if the window is larger than known',
    retryable: true,
  },
};

const SHARE = 0.8;
/** Tokens of a character, before a provider has counted any; a little more than text has. */
const DENSITY = 0.3;
/** Bounds of what a count tells: a part of what was counted is no text. */
const DENSITY_MIN = 0.2;
const DENSITY_MAX = 1;
/** A shorter conversation tells nothing of it. */
const COUNTED_MIN = 4_000;
/** Tokens that a window has at least, whatever is refused. */
const WINDOW_MIN = 4_000;

/** How much fits the models of this process: known windows, those learnt from refusals, and how densely providers count. */
export class ContextRooms {
  readonly #share: number;
  /** Tokens, by model. */
  readonly #windows = new Map<string, number>();
  /** By conversation, and the newest of a model. */
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

  /** Null for a model whose window is unknown. */
  room(sent: Sent): Room | null {
    const window = this.#window(sent.model);
    if (window === null) return null;
    return { window: window / this.#density(sent), share: this.#share, overhead: sent.overhead };
  }

  /** How it gets room, or that it cannot; null when it has room. `refused`: the provider said that it has not. */
  relieve(sent: Sent, refused: boolean, at: number): Relieved | ModelOutcome | null {
    const room = this.room(sent);
    const found = room === null ? null : relief(sent.prompt, room, refused);
    if (found === null) return null;
    return found.type === 'stuck' ? STUCK : { type: 'event', event: { ...found, at } };
  }

  /** What the provider counted of its newest answer, if another process got that; the conversation may be near the end of the window. */
  async recall(sent: Sent, store: Pick<Store, 'requests'>): Promise<void> {
    const { prompt, overhead, agent_id } = sent;
    const room = this.room(sent);
    if (room === null || this.#densities.has(prompt) || prompt.cuts.answers === 0) return;
    if (overhead + prompt.characters < room.window / 4) return;
    const messages = prompt.messages();
    const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
    const later = messages.slice(answered).reduce((sum, message) => sum + sizeOf(message), 0);
    const usage = (await store.requests(agent_id)).at(-1)?.usage;
    if (usage !== undefined) this.#count(sent, usage, overhead + prompt.characters - later);
  }

  /** The provider counted its tokens. */
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

  /** The provider refused it as too long: what it names is the window; where none is known, it is less than what was sent. */
  refused(sent: Sent, refusal: string): void {
    const { model, prompt, overhead } = sent;
    const characters = overhead + prompt.characters;
    const density = this.#density(sent);
    const sent_tokens = Math.max(WINDOW_MIN, characters * density);
    const window = namedWindow(refusal) ?? this.#window(model) ?? sent_tokens;
    this.#windows.set(model.id, window);
    // More than the window was sent.
    if (characters >= COUNTED_MIN)
      this.#densities.set(prompt, Math.min(DENSITY_MAX, Math.max(density, window / characters)));
  }
}

const SPECS = new WeakMap<readonly ToolSpec[], number>();

export function overheadOf(system: string, specs: readonly ToolSpec[]): number {
  const size = SPECS.get(specs) ?? JSON.stringify(specs).length;
  SPECS.set(specs, size);
  return system.length + size;
}
