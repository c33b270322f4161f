import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { wellFormedJson } from '../../records/text/json-text.ts';
import type { Ask, Reach } from '../provider/provider-model.ts';
import { ProviderPrompt } from '../provider/provider-prompt.ts';
import { bodyOf, RequestFrames } from './request-frames.ts';
import { sendWire } from './send-wire.ts';
import type { WirePiece, WireProtocol } from './wire-protocol.ts';

/** A prefix shared by related agents, serialized once. */
interface Beginning {
  readonly messages: readonly PromptMessage[];
  readonly bytes: Buffer | null;
  readonly pieces: readonly WirePiece[];
}

const NOTHING: Beginning = { messages: [], bytes: null, pieces: [] };
/** Maximum length of cached message JSON; larger ones, mostly images, would be in memory twice. */
const KEPT_MAX = 256 * 1024;

/**
 * Sends requests over keep-alive `node:http` connections and decodes events directly, without the packages' streams and per-chunk validation, which cost more
 * than the rest of a request (docs/decisions/0016-hot-protocols-on-the-wire.md). Messages are serialized once. `open`: the provider package's model with this
 * `fetch`, which builds the rest of a request.
 */
export function wireAsk(
  protocol: WireProtocol,
  open: (fetch: typeof globalThis.fetch) => LanguageModelV4,
  { provider, model, idle_ms, standstill_ms, quirks }: Reach,
): Ask {
  const frames = new RequestFrames(open, protocol.userMessage, quirks);
  const prompts = new ProviderPrompt(`${provider}/${model}`);
  const written = new WeakMap<PromptMessage, readonly WirePiece[]>();
  const beginnings = new WeakMap<PromptMessage, Beginning>();

  function piecesOf(message: PromptMessage): readonly WirePiece[] {
    const known = written.get(message);
    if (known !== undefined) return known;
    const pieces = prompts
      .fresh(message)
      .map((one) => ({ role: one.role, json: protocol.write(one).map(wellFormedJson).join(',') }))
      .filter(({ json }) => json !== '');
    if (pieces.every(({ json }) => json.length <= KEPT_MAX)) written.set(message, pieces);
    return pieces;
  }

  /**
   * Cached by the last shared message, an object that related agents have in common. Messages before it may differ: one of these agents may have made room
   * in its context.
   */
  function beginningOf(messages: readonly PromptMessage[]): Beginning {
    const last = messages.at(-1);
    if (last === undefined) return NOTHING;
    const known = beginnings.get(last);
    if (known !== undefined && sameMessages(known.messages, messages)) return known;
    const pieces = messages.flatMap(piecesOf);
    const bytes = Buffer.from(protocol.join(pieces, 0, pieces.length, pieces.length));
    const beginning = { messages, bytes, pieces: pieces.map(({ role }) => ({ role, json: '' })) };
    if (known === undefined) beginnings.set(last, beginning);
    return beginning;
  }

  return async (request, collector) => {
    const { messages, shared_prefix, cache_key, signal, onHeaders } = request;
    const found = frames.of(request);
    const frame = found instanceof Promise ? await found : found;
    const { bytes, pieces: inherited } = beginningOf(messages.slice(0, shared_prefix));
    const pieces = [...inherited, ...messages.slice(shared_prefix).flatMap(piecesOf)];
    const own = protocol.join(pieces, inherited.length, pieces.length, inherited.length) + protocol.end;
    const body = bodyOf(frame, bytes, own, cache_key);
    const terms = { signal, idle_ms, standstill_ms, onHeaders };
    const call = { method: 'POST', headers: frame.headers, body, ...terms };
    await sendWire(frame, call, protocol.reader(collector), collector);
  };
}

function sameMessages(one: readonly PromptMessage[], other: readonly PromptMessage[]): boolean {
  return one.length === other.length && one.every((message, index) => message === other[index]);
}
