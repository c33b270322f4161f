import { setImmediate as breathe } from 'node:timers/promises';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Image } from '../../records/conversation/message.ts';
import { promptOf } from '../../records/conversation/prompt.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { keepNewest } from '../../records/kept-in.ts';
import type { Store } from '../../store/store.ts';

const KEPT = 4;
const SLICE = 200;

type MeasuredMessage = Omit<DocumentOf<'coppice/prompt/v1'>['messages'][number], 'number' | 'shared'>;
/** One text of a message, a call or a result, with its size in bytes. */
type PromptBlock = MeasuredMessage['blocks'][number];

export interface MeasuredPrompt {
  readonly messages: readonly MeasuredMessage[];
  /** Number of leading messages that are shared with an ancestor. */
  readonly shared: number;
  readonly bytes: number;
}

/** Conversations as their models see them, with the bytes of each message. Built in slices; the most recently used few are cached. */
export class AgentPrompts {
  readonly #store: Store;
  readonly #kept = new Map<string, Promise<MeasuredPrompt>>();

  constructor(store: Store) {
    this.#store = store;
  }

  of({ id, last_seq }: Pick<Agent, 'id' | 'last_seq'>): Promise<MeasuredPrompt> {
    const key = `${id} ${last_seq}`;
    const found = this.#kept.get(key) ?? this.#build(id, last_seq);
    keepNewest(this.#kept, key, found, KEPT);
    found.catch(() => this.#kept.delete(key));
    return found;
  }

  async #build(agent_id: string, last_seq: number): Promise<MeasuredPrompt> {
    const { messages: rows = [] } = (await this.#store.conversations([agent_id])).get(agent_id) ?? {};
    const prompt = promptOf(rows.filter(({ seq }) => seq <= last_seq));
    const messages: MeasuredMessage[] = [];
    let from = 0;
    for (const message of prompt.messages()) {
      const blocks = blocksOf(message);
      const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
      messages.push({ role: message.role, blocks, from, bytes });
      from += bytes;
      if (messages.length % SLICE === 0) await breathe();
    }
    return { messages, shared: prompt.shared, bytes: from };
  }
}

function blocksOf(message: PromptMessage): PromptBlock[] {
  switch (message.role) {
    case 'user':
      return [block('text', null, message.text, message.images)];
    case 'assistant':
      return message.parts.map((part) =>
        part.type === 'call' ? block('call', part.name, part.input) : block(part.type, null, part.text),
      );
    case 'results':
      return message.results.map(({ name, output, images }) => block('result', name, output, images));
  }
}

function block(
  type: PromptBlock['type'],
  name: string | null,
  text: string,
  images: readonly Image[] = [],
): PromptBlock {
  const pictures = images.reduce((sum, { base64 }) => sum + base64.length, 0);
  return { type, name, text, images: images.length, bytes: Buffer.byteLength(text) + pictures };
}
