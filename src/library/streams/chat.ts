import * as z from 'zod';
import { isActive } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { StartOptions } from '../../runtime/runtime-face.ts';
import { checkGiven, checkSettings } from '../../settings/check-settings.ts';
import { derivedId } from '../../trees/derived-id.ts';
import { startRoot } from '../agents.ts';
import { type AgentGround, type CoppiceAgent, coppiceAgent, picturesOf } from '../coppice-agent.ts';
import { type AgentOptions, OPTIONS_OF_RUN } from '../coppice-options.ts';
import { treeOf } from './streams.ts';
import type { UIMessageChunk } from './ui-chunks.ts';
import { promptIn, type UIMessage, uiMessagesOf } from './ui-messages.ts';
import { interruptAll, type UIStreamOptions, uiResponse, uiStreamOf } from './ui-stream.ts';

/** What `useChat` of the AI SDK sends. Its newest message is sent to the agent, if there is one. Checked, as it comes from a browser. */
export interface ChatRequest {
  readonly id: string;
  readonly messages?: readonly unknown[];
  readonly trigger?: string;
}

/** What the agent is given when the chat begins. */
export type ChatOptions = Omit<AgentOptions, 'prompt' | 'images' | 'signal'>;

/** A conversation with a root agent. */
export interface Chat {
  /** Null before the first message. */
  readonly agent: CoppiceAgent | null;
  /** What was said, without the answer under way: that comes with its stream. */
  messages(): Promise<UIMessage[]>;
  /** The answer to the message of the request; without one, the answer under way, or null if there is none. */
  toUIMessageStream(options?: UIStreamOptions): ReadableStream<UIMessageChunk> | null;
  /** The same as a response; 204 if no answer is under way. */
  toUIMessageStreamResponse(options?: UIStreamOptions): Response;
  /** Interrupts the turns of the agent and of all below it. */
  interrupt(): Promise<void>;
}

const PICTURE = /^data:image\/(?:png|jpeg|webp|gif);base64,/;
const REQUEST = z.looseObject({
  id: z.string().min(1).max(200),
  messages: z.array(z.unknown()).default([]),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
});
const SAID = z.looseObject({
  ...{ id: z.string().min(1), role: z.literal('user', 'the newest message is not one of the user') },
  parts: z.array(
    z.looseObject({ type: z.string(), text: z.string().optional(), url: z.string().optional() }),
  ),
});

/** Goes on with the conversation of a chat, or begins it. */
export async function chatOn(
  ground: AgentGround,
  rootOf: (options: AgentOptions) => StartOptions,
  request: ChatRequest,
  options: ChatOptions = {},
): Promise<Chat> {
  const { store, runtime } = ground;
  checkGiven(z.object({}), options, 'chat', OPTIONS_OF_RUN);
  const { id: key, messages, trigger } = REQUEST.parse(checkSettings(REQUEST, request, 'of chat'));
  // Never an id of the ledger: a browser must not reach other trees by naming them.
  const id = derivedId(`chat\n${key}`);
  const known = await store.agent(id);
  let is_under_way = known !== null && (await treeOf(ground, id)).some(isActive);
  if (is_under_way || (known !== null && messages.length > 0)) await runtime.resume(id);
  let after: number | undefined;
  if (trigger === 'regenerate-message') {
    if (known?.state.type !== 'errored') throw refused('an answer that was given is not written again');
    await runtime.retry(id);
    is_under_way = true;
  } else if (messages.length > 0) {
    const { id: own, ...said } = saidIn(messages.at(-1));
    const letter = derivedId(`${id}\n${own}`);
    if (known === null)
      await startRoot(ground, (agent) => ({ ...rootOf(agent), letter }), { ...options, ...said, id });
    after = await sendOnce(ground, id, letter, said);
  }
  const stream = (how?: UIStreamOptions) =>
    is_under_way || after !== undefined ? uiStreamOf(ground, id, how, after) : null;
  return {
    agent: (await store.agent(id)) && coppiceAgent(ground, id),
    messages: () => uiMessagesOf(ground, id),
    toUIMessageStream: stream,
    toUIMessageStreamResponse(how) {
      const chunks = stream(how);
      return chunks === null ? new Response(null, { status: 204 }) : uiResponse(chunks);
    },
    interrupt: () => interruptAll(ground, id),
  };
}

interface Said {
  readonly prompt: string;
  readonly images: readonly Uint8Array[];
}

function refused(why: string): CoppiceError {
  return new CoppiceError('E_INVALID_ARGUMENT', `chat: ${why}`, { hint: 'Send a new message' });
}

function saidIn(message: unknown): Said & { readonly id: string } {
  const { id, parts } = SAID.parse(checkSettings(SAID, message, 'of a message of chat'));
  const text = parts.flatMap((part) => (part.type === 'text' ? (part.text ?? '') : [])).join('\n');
  const urls = parts.flatMap((part) => (part.type === 'file' ? (part.url ?? '') : []));
  if (!urls.every((url) => PICTURE.test(url)))
    throw refused('a file is not a picture (PNG, JPEG, WebP, GIF) as a data: URL');
  if (text.trim() === '' && urls.length === 0) throw refused('the message is empty');
  const images = urls.map((url) => Buffer.from(url.replace(PICTURE, ''), 'base64'));
  return { id, prompt: text.trim() === '' ? 'See the pictures.' : text, images };
}

/** Sends the message, once, however often it comes. Resolves to the seq behind which it stands, or will stand. */
async function sendOnce(ground: AgentGround, id: string, letter: string, said: Said): Promise<number> {
  const { store, runtime, cwd } = ground;
  const [first] = await store.history(id, 0, 1);
  const last_seq = (await store.agent(id))?.last_seq ?? 0;
  let seq: number | null = first?.seq ?? null;
  if (first === undefined || promptIn(first)?.id !== letter) {
    const images = said.images.length === 0 ? {} : { images: await picturesOf(said.images, cwd) };
    seq = (await runtime.send(id, said.prompt, { id: letter, ...images })).consumed_seq;
  }
  if (seq === null) return last_seq;
  const [there] = await store.history(id, seq - 1, 1);
  if (there && promptIn(there)?.text !== storable(said.prompt))
    throw refused('a message that was sent cannot be changed');
  return seq - 1;
}
