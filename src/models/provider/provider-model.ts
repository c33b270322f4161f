import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import { refusedTool } from '../refusals/refused-tool.ts';
import { AnswerCollector } from './answer-collector.ts';
import { CallLabels } from './call-labels.ts';
import { ConnectionError } from './http-fetch.ts';
import { withinPictures } from './picture-budget.ts';
import type { Price, ProviderConfig, Quirks } from './provider-config.ts';
import { providerFailure } from './provider-failure.ts';
import { type QuirkBook, quirksTold } from './quirk-book.ts';
import { longDescription, misses, quirksIn } from './quirks.ts';

/** Sends one request and reads the answer into the collector until its end, its first error or the abort. Rejects with the error. */
export type Ask = (request: ModelRequest, collector: AnswerCollector) => Promise<void>;

export interface Reach {
  readonly type: ProviderConfig['type'];
  readonly provider: string;
  readonly model: string;
  readonly key: string | null;
  readonly base_url: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Idle time after which an answer counts as broken. */
  readonly idle_ms: number;
  /** Time without anything new in which only signs of life come, after which it counts as broken, too. */
  readonly standstill_ms: number;
  /** What the server does not take. */
  readonly quirks: Quirks;
}

export interface ProviderModelOptions {
  /** `provider/model`. */
  readonly id: string;
  /** How to ask a server that does not take this. */
  readonly askFor: (quirks: Quirks) => Promise<Ask>;
  readonly quirks: QuirkBook;
  /** A sentence on models with names like this one's, for when it does not exist; empty if there is nothing to say. */
  readonly near: () => Promise<string>;
  readonly context_window: number | null;
  readonly price: Price | null;
  readonly caches_prefixes: boolean;
  /** Whether the model's own call ids are kept unchanged (`CallLabels`). */
  readonly trusts_own_ids: boolean;
  /** Whether the provider refuses reasoning within a sequence of calls that began without it (Anthropic). */
  readonly thinks_throughout: boolean;
  /** Secrets that must never appear in an error. */
  readonly secrets: readonly string[];
  /** The environment variable that the key came from; null without one. */
  readonly key_env: string | null;
}

/** A model of a provider: one request per step, tools without executors. */
export function createProviderModel(options: ProviderModelOptions): Model {
  const asks = new Asks(options);
  const labels = new CallLabels(options.id, options.trusts_own_ids);
  return {
    id: options.id,
    context_window: options.context_window,
    tells_cost: options.price !== null,
    caches_prefixes: options.caches_prefixes,
    stream: (request, onDelta) => {
      const messages = withinPictures(request.messages);
      const thoughtless = options.thinks_throughout && isForeignLoop(options.id, request.messages);
      const sendable: ModelRequest = {
        ...request,
        messages: labels.apply(messages),
        // Without the dropped images, the prefix is no longer shared with related agents.
        shared_prefix: messages === request.messages ? request.shared_prefix : 0,
        thinking: thoughtless ? 'off' : request.thinking,
      };
      return stream(options, asks, sendable, onDelta);
    },
  };
}

/** Whether an answer since the newest user message is another model's, whose reasoning cannot be sent. */
function isForeignLoop(model: string, messages: readonly PromptMessage[]): boolean {
  const from = messages.findLastIndex((message) => message.role === 'user') + 1;
  return messages.slice(from).some((message) => message.role === 'assistant' && message.model !== model);
}

async function stream(
  options: ProviderModelOptions,
  asks: Asks,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  const collector = new AnswerCollector(options.id, options.price, onDelta);
  const partial = () => (collector.partial === '' ? {} : { partial: collector.partial });
  const refusals: unknown[] = [];
  const failed = async (error: unknown): Promise<ModelOutcome> => {
    const failureOf = (one: unknown) => providerFailure(one, { ...options, messages: request.messages });
    const { failure, ...outcome } = failureOf(error);
    const near = failure.kind === 'no_model' ? await options.near() : '';
    // The first refusal is the cause; the last error says what became of the request without what was refused.
    const all = [...refusals.slice(0, 1), ...refusals.slice(-1), error].map(
      (one) => failureOf(one).failure.error,
    );
    const told = [...new Set(all)].join('; asked again without that: ');
    return { ...outcome, failure: { ...failure, error: told + near }, ...partial() };
  };
  try {
    await asks.ask(request, collector, onDelta, refusals);
    if (request.signal.aborted) return { type: 'aborted', ...partial() };
    return (
      collector.answer() ??
      (await failed(collector.error ?? new ConnectionError('broken', 'the answer broke off before its end')))
    );
  } catch (error) {
    return request.signal.aborted ? { type: 'aborted', ...partial() } : failed(error);
  }
}

/** Maximum refusals of one request that each name something new that the server does not take. */
const REFUSALS_MAX = 4;
/** Maximum tools of one request that are refused one after the other. */
const TOOLS_MAX = 16;

/** Sends requests without what the server does not take: a refusal that names something of the kind is followed by a request without it. */
class Asks {
  readonly #options: ProviderModelOptions;
  #quirks: Quirks | null = null;
  #ask: Promise<Ask> | null = null;
  /** Tools that the server refused, by name, each as it was then. */
  readonly #aside = new Map<string, string>();

  constructor(options: ProviderModelOptions) {
    this.#options = options;
  }

  async ask(
    whole: ModelRequest,
    collector: AnswerCollector,
    onDelta: (delta: ModelDelta) => void,
    refusals: unknown[],
  ): Promise<void> {
    const { id, quirks: book } = this.#options;
    const { refusedTools: before = [], ...known } = book.of(id);
    let quirks: Quirks = known;
    const kept = whole.tools.filter(
      (tool) => !this.#aside.has(tool.name) || this.#aside.get(tool.name) !== JSON.stringify(tool),
    );
    let request = kept.length === whole.tools.length ? whole : { ...whole, tools: kept };
    const refused: (readonly [tool: ToolSpec, why: string])[] = [];
    for (;;) {
      const ask = await this.#askFor(quirks);
      try {
        await ask(quirks.systemRole === false ? withoutSystem(request) : request, collector);
      } catch (error) {
        const shorter = longDescription(error, quirks, request.tools);
        const may_set_aside = shorter === null && refused.length < TOOLS_MAX;
        const tool = may_set_aside ? refusedTool(error, request.tools) : undefined;
        const is_further = tool === undefined && refusals.length - refused.length < REFUSALS_MAX;
        refusals.push(error);
        const learnt = shorter ?? (is_further ? quirksIn(error, quirks) : null);
        // A server that misses what was left out has refused something else.
        if (tool === undefined && learnt === null) throw misses(error, quirks) ? refusals[0] : error;
        if (tool !== undefined) {
          refused.push([tool, (error as Error).message]);
          request = { ...request, tools: request.tools.filter((one) => one !== tool) };
          continue;
        }
        quirks = learnt ?? quirks;
        onDelta({ type: 'waiting', reason: `the server refused: asked ${quirksTold(quirks)}`, delay_ms: 0 });
        continue;
      }
      const sent = new Set(request.tools.map(({ name }) => name));
      const still = before.filter((name) => !sent.has(name));
      const now = [...new Set([...still, ...refused.map(([{ name }]) => name)])].slice(-TOOLS_MAX);
      if (refusals.length > refused.length || now.join() !== before.join())
        book.learn(id, { ...quirks, ...(now.length > 0 && { refusedTools: now }) });
      for (const [tool, why] of refused) {
        this.#aside.set(tool.name, JSON.stringify(tool));
        whole.onNotice?.(`${id} refuses the tool ${tool.name} and gets on without it: ${why}`);
      }
      return;
    }
  }

  #askFor(quirks: Quirks): Promise<Ask> {
    if (this.#ask === null || JSON.stringify(quirks) !== JSON.stringify(this.#quirks)) {
      this.#quirks = quirks;
      this.#ask = this.#options.askFor(quirks);
    }
    return this.#ask;
  }
}

/** The request with its instructions at the beginning of the first message of the user. */
function withoutSystem(request: ModelRequest): ModelRequest {
  const { system, messages } = request;
  const [first, ...rest] = messages;
  if (system === '' || first?.role !== 'user') return request;
  const text = `${system}\n\n${first.text}`;
  return { ...request, system: '', messages: [{ ...first, text }, ...rest], shared_prefix: 0 };
}
