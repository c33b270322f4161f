import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '../../records/agent/usage.ts';
import type { AssistantPart, ProviderMetadata } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { storable } from '../../records/text/text.ts';
import type { ModelDelta, ModelOutcome } from '../model.ts';
import { UnusableAnswer } from './http-fetch.ts';
import { costOf } from './prices.ts';
import type { Price } from './provider-config.ts';
import { ownMetadata } from './provider-prompt.ts';

/** Maximum characters of an answer: several times what models write. */
const ANSWER_MAX = 8_000_000;
/** Maximum characters of its id. */
const NAME_MAX = 200;
/** Maximum tokens counted of one request, so that what a server invents cannot break sums. */
const TOKENS_MAX = 1e10;

interface Block {
  readonly type: 'text' | 'reasoning';
  text: string;
  metadata: ProviderMetadata | undefined;
}

const WHOLE: Readonly<Record<string, 'stop' | 'calls' | 'length' | 'refused'>> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'refused',
};

/**
 * Collects the parts of one provider stream. The answer is complete only with a known finish reason and no error
 * part; the provider packages hide broken streams otherwise.
 */
export class AnswerCollector {
  readonly #model: string;
  readonly #price: Price | null;
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #parts: (Block | Extract<AssistantPart, { type: 'call' }>)[] = [];
  readonly #open = new Map<string, Block>();
  readonly #response: Record<string, string> = {};
  #length = 0;
  #finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | null = null;
  /** Whether something of the answer has come, if only the beginning of a call; and whether it has calls. */
  begun = false;
  called = false;
  /** Parts of the answer so far; its name is none. */
  parts = 0;
  /** The first error part. */
  error: unknown = null;

  constructor(model: string, price: Price | null, onDelta: (delta: ModelDelta) => void) {
    this.#model = model;
    this.#price = price;
    this.#onDelta = onDelta;
  }

  add(part: LanguageModelV4StreamPart): void {
    if (part.type !== 'response-metadata') this.parts += 1;
    this.begun ||= /-delta$|^tool-/.test(part.type);
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part.type === 'text-start' ? 'text' : 'reasoning', part.id, part.providerMetadata);
        return;
      case 'text-delta':
      case 'reasoning-delta': {
        const type = part.type === 'text-delta' ? 'text' : 'reasoning';
        if (!this.#hasRoom(part.delta)) return;
        // Some servers do not say that a block begins.
        const block = this.#open.get(`${type} ${part.id}`) ?? this.#begin(type, part.id, undefined);
        block.text += part.delta;
        this.#keep(block, part.providerMetadata);
        if (part.delta !== '') this.#onDelta({ type, text: part.delta });
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const key = `${part.type === 'text-end' ? 'text' : 'reasoning'} ${part.id}`;
        const block = this.#open.get(key);
        if (block !== undefined) this.#keep(block, part.providerMetadata);
        this.#open.delete(key);
        return;
      }
      case 'tool-input-delta':
        this.#hasRoom(part.delta);
        return;
      case 'tool-call':
        this.called = true;
        this.#parts.push({
          type: 'call',
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          ...ownMetadata(part.providerMetadata),
        });
        this.#onDelta({ type: 'call', id: part.toolCallId, name: part.toolName });
        return;
      case 'finish':
        this.#finish = part;
        if (part.finishReason.unified === 'error')
          this.error ??= new Error(`the server ended it with "${part.finishReason.raw}"`);
        return;
      case 'response-metadata':
        for (const [name, said] of Object.entries({ id: part.id, model: part.modelId }))
          if (said !== undefined) this.#response[name] ??= storable(cutText(said, NAME_MAX));
        return;
      case 'error':
        this.error ??= part.error ?? new Error('the provider reported an error');
        return;
      default:
        return;
    }
  }

  /** Counts what the answer grows by; false, with an error, if it is too long. */
  #hasRoom(delta: string): boolean {
    this.#length += delta.length;
    if (this.#length <= ANSWER_MAX) return true;
    this.error ??= new UnusableAnswer(`the answer exceeds ${ANSWER_MAX} characters`);
    return false;
  }

  #begin(type: Block['type'], id: string, metadata: unknown): Block {
    const block: Block = { type, text: '', metadata: undefined };
    this.#keep(block, metadata);
    this.#open.set(`${type} ${id}`, block);
    this.#parts.push(block);
    return block;
  }

  #keep(block: Block, metadata: unknown): void {
    if (metadata !== undefined && metadata !== null)
      block.metadata = { ...block.metadata, ...(metadata as ProviderMetadata) };
  }

  /** Whether it is known what the answer is called and which model gave it. */
  get named(): boolean {
    return this.#response.id !== undefined && this.#response.model !== undefined;
  }

  /** Whether the provider has said how the answer ends, after which it sends nothing more. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  get partial(): string {
    return this.#parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  }

  /** Null if the stream was incomplete. */
  answer(): Extract<ModelOutcome, { type: 'answer' }> | null {
    const { unified, raw } = this.#finish?.finishReason ?? { unified: 'other', raw: undefined };
    const finish = WHOLE[unified];
    if (this.#finish === null || finish === undefined || this.error !== null) return null;
    const parts = this.#parts.flatMap((part): AssistantPart[] => {
      if (part.type === 'call') return [part];
      // Empty reasoning may still carry the signature that its provider requires.
      if (part.text === '' && (part.type === 'text' || part.metadata === undefined)) return [];
      return [{ type: part.type, text: part.text, ...ownMetadata(part.metadata) }];
    });
    if (finish === 'length') markCut(parts);
    const cache_written = tokens(this.#finish.usage.inputTokens.cacheWrite);
    const response = { ...this.#response, ...(cache_written > 0 && { cache_written }) };
    return {
      type: 'answer',
      content: { model: this.#model, parts, ...(Object.keys(response).length > 0 && { response }) },
      usage: usageOf(this.#finish.usage, this.#price),
      finish: this.called && finish === 'stop' ? 'calls' : finish,
      ...(raw === undefined ? {} : { reason: raw }),
    };
  }
}

/**
 * If the output limit cuts off a call before its first argument, packages report empty arguments, which would run. An open brace is invalid JSON, so
 * the model is told so, as for any other truncated call.
 */
function markCut(parts: AssistantPart[]): void {
  const last = parts.at(-1);
  if (last?.type !== 'call' || !/^\s*(\{\s*\}\s*)?$/.test(last.input)) return;
  parts[parts.length - 1] = { ...last, input: '{' };
}

function usageOf(usage: LanguageModelV4Usage, price: Price | null): Usage {
  const input = tokens(usage.inputTokens.total);
  const output = tokens(usage.outputTokens.total);
  const cached = tokens(usage.inputTokens.cacheRead);
  const reasoning = tokens(usage.outputTokens.reasoning);
  const written = tokens(usage.inputTokens.cacheWrite);
  const cost_usd = price === null ? null : costOf({ input, output, cached, written }, price);
  const unsaid = usage.inputTokens.cacheRead === undefined ? { resent: null } : {};
  return { input, output, cached, reasoning, ...unsaid, cost_usd };
}

/** A number that cannot be a count of tokens counts as 0, one that is too large as the maximum. */
function tokens(count: number | undefined): number {
  if (count === undefined || Number.isNaN(count) || count < 0) return 0;
  return Math.round(Math.min(count, TOKENS_MAX));
}
