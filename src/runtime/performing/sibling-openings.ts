import type { ModelDelta } from '../../models/model.ts';
import type { Agent, AgentConfig } from '../../records/agent/agent.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock } from '../runtime-clock.ts';

/** Maximum time that an agent waits for its sibling. */
const WAIT_MS = 5_000;
/** How long providers keep a prefix at least. */
const KEPT_MS = 5 * 60_000;
/** Shorter prefixes are not cached: 1,024 tokens. */
const CHARACTERS_MIN = 4_096;

interface SiblingContext {
  readonly executor: Pick<Executor, 'agent_index'>;
  readonly clock: Pick<RuntimeClock, 'now' | 'after'>;
}

interface Opening {
  readonly at: number;
  readonly begun: Promise<void>;
  has_begun: boolean;
}

/**
 * Forks that begin together with the same prefix: the first one asks, and the others when its answer has begun, because only then the provider's cache
 * holds the prefix. Nothing of it is in the ledger, so a successor of this process asks without waiting for anybody who is gone.
 */
export class SiblingOpenings {
  readonly #openings = new Map<string, Opening>();

  /**
   * Resolves when the agent may ask: at once, unless a sibling has just asked; at the latest after 5 s, or when the signal aborts. What it resolves to
   * must be called when the answer has begun, and when the request has ended, however; idempotent.
   */
  async enter(
    { agent, prompt }: Pick<Cell, 'agent' | 'prompt'>,
    { executor, clock }: SiblingContext,
    signal: AbortSignal,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<() => void> {
    const { forked_from, config, usage } = agent;
    if (forked_from === null || usage.input + usage.output > 0) return () => undefined;
    const key = `${forked_from.agent_id} ${forked_from.seq} ${cachedBy(config)}`;
    const known = this.#openings.get(key);
    if (known === undefined) {
      const parent = executor.agent_index.agent(agent.parent_id ?? '');
      return this.#open(key, prompt, parent, config, clock.now());
    }
    if (known.has_begun) return () => undefined;
    onDelta({
      type: 'waiting',
      reason: 'a sibling asks first, so that the cache serves both',
      delay_ms: WAIT_MS,
    });
    await new Promise<void>((resolve) => {
      const done = () => {
        stop();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const stop = clock.after(WAIT_MS, done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
      void known.begun.then(done);
    });
    return () => undefined;
  }

  /** Nobody waits for one whose prefix is too short, or was cached for its parent. */
  #open(
    key: string,
    prompt: Prompt,
    parent: Agent | undefined,
    config: AgentConfig,
    now: number,
  ): () => void {
    for (const [old, { at }] of this.#openings) {
      if (now - at < KEPT_MS) break;
      this.#openings.delete(old);
    }
    const as_parent = parent !== undefined && cachedBy(parent.config) === cachedBy(config);
    const { promise, resolve } = Promise.withResolvers<void>();
    const opening = { at: now, begun: promise, has_begun: false };
    this.#openings.set(key, opening);
    const begin = () => {
      opening.has_begun = true;
      resolve();
    };
    // The parent has asked with all but its newest answer and what stands for its results.
    const fresh = prompt.messages().slice(as_parent ? prompt.shared - 2 : 0, prompt.shared);
    if (!isLong(fresh)) begin();
    return begin;
  }
}

/** What, besides the messages, decides whether a request finds a prefix in the cache: the profile stands for prompt and tools. */
function cachedBy({ model, thinking, profile = '' }: AgentConfig): string {
  return `${model} ${thinking} ${profile}`;
}

function isLong(messages: readonly PromptMessage[]): boolean {
  let characters = 0;
  return messages.some((message) => {
    characters += JSON.stringify(message).length;
    return characters >= CHARACTERS_MIN;
  });
}
