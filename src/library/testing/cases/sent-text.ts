import type { ModelRequest } from '../../../models/model.ts';
import type { PromptMessage } from '../../../records/conversation/prompt-message.ts';
import { maskedText } from '../../../records/text/masked-text.ts';
import type { ToolSpec } from '../../../records/tool.ts';
import type { Sent } from './recorded-case.ts';

/** What a model was sent, masked; `tools`: their descriptions as JSON. */
export interface SentWhole {
  readonly system: string;
  readonly tools: string;
  readonly messages: readonly string[];
}

/** What differs between a recorded request and that of today, the most general first. */
export function differencesIn(was: SentWhole, now: SentWhole) {
  const found: { readonly what: string; readonly recorded: string; readonly now: string }[] = [];
  if (was.system !== now.system) found.push({ what: 'system text', recorded: was.system, now: now.system });
  const [before, after] = [specsOf(was.tools), specsOf(now.tools)];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [recorded = '', text = ''] = [before.get(name), after.get(name)];
    if (recorded !== text) found.push({ what: `tool ${name}`, recorded, now: text });
  }
  const length = Math.max(was.messages.length, now.messages.length);
  for (let at = 0; at < length; at += 1) {
    const [recorded = '', text = ''] = [was.messages[at], now.messages[at]];
    if (recorded === text) continue;
    found.push({ what: `message ${at + 1}`, recorded, now: text });
    break;
  }
  return found;
}

function specsOf(tools: string): Map<string, string> {
  const specs = JSON.parse(tools) as readonly ToolSpec[];
  return new Map(
    specs.map(({ name, description, input }) => [name, `${description}\n${JSON.stringify(input, null, 2)}`]),
  );
}

/** Makes `Sent` of requests, and keeps the texts that they share. */
export class SentTexts {
  readonly texts: string[];
  readonly #folders: readonly string[];
  readonly #places: Map<string, number>;
  readonly #told = new Map<string, readonly string[]>();
  readonly #whole = new Map<string, readonly string[]>();

  constructor(folders: readonly string[], texts: readonly string[] = []) {
    this.#folders = folders;
    this.texts = [...texts];
    this.#places = new Map(this.texts.map((text, place) => [text, place]));
  }

  add({ agent, system, tools, messages }: ModelRequest): Sent {
    const told = messages.map((message) => maskedText(messageText(message), this.#folders));
    const before = this.#told.get(agent.id) ?? [];
    const other = told.findIndex((text, place) => text !== before[place]);
    const kept = Math.min(before.length, other < 0 ? told.length : other);
    this.#told.set(agent.id, told);
    return {
      system: this.#place(maskedText(system, this.#folders)),
      tools: this.#place(maskedText(JSON.stringify(tools), this.#folders)),
      ...{ kept, told: told.slice(kept) },
    };
  }

  /** All that an agent was sent with this request, which is its newest; `sent` is relative to the one before. */
  whole(agent_id: string, { system, tools, kept, told }: Sent): SentWhole {
    const messages = [...(this.#whole.get(agent_id) ?? []).slice(0, kept), ...told];
    this.#whole.set(agent_id, messages);
    return { system: this.texts[system] ?? '', tools: this.texts[tools] ?? '', messages };
  }

  #place(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

function messageText(message: PromptMessage): string {
  if (message.role === 'user') return `user: ${message.text}`;
  if (message.role === 'results')
    return message.results.map(({ name, output }) => `result of ${name}: ${output}`).join('\n');
  const parts = message.parts.map((part) =>
    part.type === 'call' ? `calls ${part.name} ${part.input}` : part.text,
  );
  return `assistant: ${parts.join('\n')}`;
}
