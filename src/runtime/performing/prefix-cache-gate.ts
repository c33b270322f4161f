import type { ModelDelta } from '../../models/model.ts';
import type { Agent, AgentConfig } from '../../records/agent/agent.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock } from '../runtime-clock.ts';

/** Maximum time that an agent waits for its sibling. */
const WAIT_MS = 5_000;
/** Minimum time for which providers keep a prefix. */
const KEPT_MS = 5 * 60_000;
/** Minimum characters of a prefix that is cached: about 1,024 tokens. */
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
 * Orders the first requests of forks that begin together with the same prefix: the first fork asks, the others follow when its answer has begun, because
 * only then does the provider's cache hold the prefix. Kept in memory only, so that after a take-over nobody waits for a request that is gone.
 */
export class PrefixCacheGate {
  readonly #openings = new Map<string, Opening>();

  /**
   * Resolves when the agent may ask: at once, unless a sibling has just asked; at the latest after 5 s, or when the signal aborts. The
   * function that it resolves to must be called when the answer begins and when the request ends, whatever its outcome; idempotent.
   */
  async enter(
    { agent, prompt }: Pick<Cell, 'agent' | 'prompt'>,
    { executor, clock }: SiblingContext,
    signal: AbortSignal,
    onDelta: (delta: ModelDelta) => void,
  ): Promise<() => void> {
    const { forked_from, config, usage } = agent;
    if (forked_from === null || usage.input + usage.output > 0) return () => undefined;
    const now = clock.now();
    for (const [old, { at }] of this.#openings) {
      if (now - at < KEPT_MS) break;
      this.#openings.delete(old);
    }
    const key = `${forked_from.agent_id} ${forked_from.seq} ${cachedBy(config)}`;
    const known = this.#openings.get(key);
    if (known === undefined) {
      const parent = executor.agent_index.agent(forked_from.agent_id);
      return this.#open(key, prompt, parent, config, now);
    }
    if (known.has_begun) return () => undefined;
    onDelta({
      type: 'waiting',
      reason: 'a sibling asks first, so that the cache serves both',
      delay_ms: WAIT_MS,
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const stop = clock.after(WAIT_MS, resolve);
    await unlessAborted(Promise.race([known.begun, late]), signal, () => undefined);
    stop();
    return () => undefined;
  }

  /** Registers the first request of a prefix. Siblings do not wait for it if the part that the parent's requests did not cache is too short to be cached. */
  #open(
    key: string,
    prompt: Prompt,
    parent: Agent | undefined,
    config: AgentConfig,
    now: number,
  ): () => void {
    const as_parent = parent !== undefined && cachedBy(parent.config) === cachedBy(config);
    const { promise, resolve } = Promise.withResolvers<void>();
    const opening = { at: now, begun: promise, has_begun: false };
    this.#openings.set(key, opening);
    const begin = () => {
      opening.has_begun = true;
      resolve();
    };
    // The parent has already sent all but its newest answer and the placeholder results.
    const fresh = prompt.messages().slice(as_parent ? prompt.shared - 2 : 0, prompt.shared);
    if (!isLong(fresh)) begin();
    return begin;
  }
}

/** Key of a cached prefix, in addition to its messages; the profile stands for system text and tools. */
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
