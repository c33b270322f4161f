import { type Answer, argumentsOf, pieces, refusalOf, type SeenMessage } from './brain.ts';
import {
  type Protocol,
  type ProtocolServer,
  type ProtocolServerOptions,
  startProtocolServer,
} from './protocol-server.ts';

type Block = Record<string, unknown>;

/** Anthropic's Messages API, streaming. */
const protocol: Protocol = {
  accepts: (path) => /\/v1\/messages(?:\?.*)?$/.test(path),
  read(body) {
    const system = (Array.isArray(body.system) ? body.system : [])
      .map((block: Block) => String(block.text))
      .join('\n');
    const messages = (body.messages as { role: 'user' | 'assistant'; content: string | Block[] }[]).flatMap(
      ({ role, content }) => readMessage(role, content),
    );
    return { system, messages };
  },
  refuse(body, messages) {
    const all = body.messages as { role: string; content: string | Block[] }[];
    for (const [index, message] of all.entries()) {
      if (index > 0 && all[index - 1]?.role === message.role)
        return `messages.${index}: roles must alternate`;
      if (message.content.length === 0) return `messages.${index}: content is empty`;
      if (typeof message.content === 'string') continue;
      for (const [place, block] of message.content.entries()) {
        const wrong = wrongBlock(block);
        if (wrong !== null) return `messages.${index}.content.${place}.${wrong}`;
      }
      const last = message.content.at(-1)?.type;
      if (message.role === 'assistant' && (last === 'thinking' || last === 'redacted_thinking'))
        return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`;
      const first = message.content.findIndex((block) => block.type !== 'tool_result');
      if (first >= 0 && message.content.slice(first).some((block) => block.type === 'tool_result')) {
        return `messages.${index}: tool_result blocks must come first`;
      }
    }
    if (all.at(-1)?.role === 'assistant')
      return 'This model does not support assistant message prefill. The conversation must end with a user message.';
    const thinking = (body.thinking as { type?: string } | undefined)?.type === 'enabled';
    const unthought = thinking ? withoutThinking(all) : null;
    if (unthought !== null)
      return `messages.${unthought}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`;
    const breakpoints = JSON.stringify(body).split('"cache_control"').length - 1;
    if (breakpoints > 4)
      return `a maximum of 4 blocks with cache_control may be provided, found ${breakpoints}`;
    if (messages.some((message) => message.calls.length > 0) && body.tools === undefined)
      return 'tools: required when messages hold tool_use';
    return refusalOf(messages);
  },
  events(answer) {
    const event = (type: string, data: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
    const { input, output, cached = 0 } = answer.usage ?? { input: 10, output: 5 };
    const blocks: { start: object; deltas: object[] }[] = [];
    if (answer.reasoning !== undefined) {
      blocks.push({
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: answer.reasoning },
          { type: 'signature_delta', signature: SIGNATURE },
        ],
      });
    }
    if (answer.text)
      blocks.push({
        start: { type: 'text', text: '' },
        deltas: pieces(answer.text, answer.pieces ?? 3).map((text) => ({ type: 'text_delta', text })),
      });
    for (const call of answer.calls ?? []) {
      const id = call.id ?? `toolu_${Math.random().toString(36).slice(2, 12)}`;
      blocks.push({
        start: { type: 'tool_use', id, name: call.name, input: {} },
        deltas: pieces(argumentsOf(call.input), 2).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      });
    }
    return [
      event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: input - (cached ?? 0),
            ...(cached !== null && { cache_read_input_tokens: cached, cache_creation_input_tokens: 0 }),
            output_tokens: 1,
          },
        },
      }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: {
          stop_reason: stopReason(answer),
          stop_sequence: null,
        },
        usage: { output_tokens: output },
      }),
      event('message_stop', {}),
    ];
  },
  error: (status, message) => ({
    type: 'error',
    error: {
      type:
        status === 529
          ? 'overloaded_error'
          : status === 429
            ? 'rate_limit_error'
            : status === 401
              ? 'authentication_error'
              : 'invalid_request_error',
      message,
    },
  }),
};

/** Signature of thinking blocks; the server accepts no other. */
const SIGNATURE = 'signed';

function wrongBlock(block: Block): string | null {
  switch (block.type) {
    case 'text':
      return String(block.text).trim() === '' ? 'text: text content blocks must be non-empty' : null;
    case 'thinking':
      return block.signature === SIGNATURE ? null : 'signature: Invalid `signature` in `thinking` block';
    case 'tool_use':
      if (typeof block.input !== 'object' || block.input === null)
        return 'tool_use.input: Input should be a valid dictionary';
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block.name)))
        return "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
      return /^[a-zA-Z0-9_-]+$/.test(String(block.id))
        ? null
        : "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    default:
      return null;
  }
}

/** Index of the message in an unfinished tool loop whose calls are not preceded by thinking; null if there is none. */
function withoutThinking(all: readonly { role: string; content: string | Block[] }[]): number | null {
  const last = all.at(-1)?.content;
  if (!Array.isArray(last) || last.some((block) => block.type !== 'tool_result')) return null;
  const before = all.at(-2)?.content;
  const starts = Array.isArray(before) ? before[0]?.type : 'text';
  return starts === 'thinking' || starts === 'redacted_thinking' ? null : all.length - 2;
}

function stopReason({ finish, calls = [] }: Answer): string {
  if (finish !== undefined) return finish === 'length' ? 'max_tokens' : 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** A user message with both results and text is read as two messages. */
function readMessage(role: 'user' | 'assistant', content: string | Block[]): SeenMessage[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('');
  if (role === 'assistant') {
    const calls = blocks.flatMap((block: Block) =>
      block.type === 'tool_use' ? [{ id: String(block.id), name: String(block.name) }] : [],
    );
    return [{ role, text, calls, results: [] }];
  }
  const results = blocks.flatMap((block: Block) =>
    block.type === 'tool_result' ? [{ id: String(block.tool_use_id), output: outputOf(block.content) }] : [],
  );
  const messages: SeenMessage[] =
    results.length > 0 ? [{ role: 'results', text: '', calls: [], results }] : [];
  if (results.length === 0 || blocks.some((block) => block.type !== 'tool_result'))
    messages.push({ role: 'user', text, calls: [], results: [] });
  return messages;
}

function outputOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: Block) => String(part.text ?? '')).join('') : '';
}

export function startAnthropicServer(options: ProtocolServerOptions): Promise<ProtocolServer> {
  return startProtocolServer(protocol, options);
}
