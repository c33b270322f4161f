import type { Agent } from '../../records/agent/agent.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { Outcome } from '../../records/run/outcome.ts';
import { jsonIn } from '../../records/text/json-text.ts';
import type { StatusWord } from '../../render/agent-status.ts';
import { joined, type LivePart } from './live-answers.ts';

/** An agent of the tree, in the part `data-agent` of a message. */
export interface UIAgent extends Outcome, Pick<Agent, 'id' | 'parent_id' | 'name' | 'doing'> {
  readonly state: StatusWord;
  /** The end of what it said last, also while it speaks. */
  readonly last_words: string;
}

type Spoken = 'text' | 'reasoning';
interface CallChunk {
  toolCallId: string;
  dynamic: true;
  /** The page must not run it, nor wait for it. */
  providerExecuted: true;
}

/** A chunk of the UI message stream of the AI SDK, as far as Coppice sends them. */
export type UIMessageChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: `${Spoken}-start` | `${Spoken}-end`; id: string }
  | { type: `${Spoken}-delta`; id: string; delta: string }
  | (CallChunk & { type: 'tool-input-available'; toolName: string; input: unknown })
  | (CallChunk & { type: 'tool-output-available'; output: string })
  | (CallChunk & { type: 'tool-output-error'; errorText: string })
  | { type: 'data-agent'; id: string; data: UIAgent }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | {
      type: 'finish';
      finishReason: 'stop' | 'length' | 'content-filter' | 'error';
      messageMetadata: { outcome: string; outcome_text: string; agents: number; cost_usd: number };
    };

const OF_CALL = { dynamic: true, providerExecuted: true } as const;

/** Says each answer as a step: what is new of it, as long as it goes on as it began. */
export class AnswerWriter {
  #told: LivePart[] = [];
  #open: { readonly type: Spoken; readonly id: string } | null = null;
  #count = 0;
  #step: 'none' | 'open' | 'whole' = 'none';

  /** A message of the ledger. */
  *chunksOf({ kind, content }: PlacedMessage): Generator<UIMessageChunk> {
    if (kind === 'result') {
      const { call_id: toolCallId, status, output } = content;
      if (status === 'ok') yield { type: 'tool-output-available', toolCallId, output, ...OF_CALL };
      else yield { type: 'tool-output-error', toolCallId, errorText: output || status, ...OF_CALL };
    }
    if (kind !== 'assistant') return;
    yield* this.soFar(joined(content.parts.map((part) => (part.type === 'call' ? { type: 'call' } : part))));
    yield* this.#close();
    for (const part of content.parts) {
      if (part.type !== 'call') continue;
      const { name: toolName, input } = part.read ?? part;
      const call = { toolCallId: part.id, toolName, input: jsonIn(input) ?? input };
      yield { type: 'tool-input-available', ...call, ...OF_CALL };
    }
    [this.#told, this.#step] = [[], 'whole'];
  }

  /** An answer under way. */
  *soFar(parts: readonly LivePart[]): Generator<UIMessageChunk> {
    if (
      !this.#told.every(({ type, text }, at) => parts[at]?.type === type && parts[at].text.startsWith(text))
    ) {
      // It broke off and begins again.
      yield { type: 'reset-step' };
      [this.#told, this.#open] = [[], null];
    } else if (this.#step !== 'open') {
      if (this.#step === 'whole') yield { type: 'finish-step' };
      yield { type: 'start-step' };
    }
    this.#step = 'open';
    for (const [at, part] of parts.entries()) {
      const { type, text } = part;
      const before = this.#told[at]?.text;
      this.#told[at] = part;
      if (before === undefined) yield* this.#close();
      if (type === 'call') continue;
      if (before === undefined) {
        this.#count += 1;
        this.#open = { type, id: `${type}-${this.#count}` };
        yield { type: `${type}-start`, id: this.#open.id };
      }
      const delta = text.slice(before?.length ?? 0);
      if (this.#open !== null && delta !== '') yield { type: `${type}-delta`, id: this.#open.id, delta };
    }
  }

  *end(): Generator<UIMessageChunk> {
    yield* this.#close();
    if (this.#step !== 'none') yield { type: 'finish-step' };
  }

  *#close(): Generator<UIMessageChunk> {
    if (this.#open !== null) yield { type: `${this.#open.type}-end`, id: this.#open.id };
    this.#open = null;
  }
}
