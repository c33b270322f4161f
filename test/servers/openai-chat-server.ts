import { type Answer, argumentsOf, pieces, refusalOf, type SeenMessage } from './brain.ts';
import {
  type Protocol,
  type ProtocolServer,
  type ProtocolServerOptions,
  startProtocolServer,
} from './protocol-server.ts';

const FINISH: Readonly<Record<string, string>> = {
  length: 'length',
  refused: 'content_filter',
  blocked: 'content_filter',
};

/** Chat Completions as OpenAI-compatible servers speak it, streaming. */
const protocol: Protocol = {
  accepts: (path) => /\/chat\/completions(?:\?.*)?$/.test(path),
  read(body) {
    const all = body.messages as Record<string, unknown>[];
    const system = all
      .filter((one) => one.role === 'system')
      .map((one) => String(one.content))
      .join('\n');
    return { system, messages: readMessages(all.filter((one) => one.role !== 'system')) };
  },
  refuse(body, messages) {
    for (const one of body.messages as Record<string, unknown>[]) {
      if (one.role === 'user' && (one.content === '' || (one.content as unknown[]).length === 0))
        return 'empty user message';
    }
    for (const [index, one] of (body.messages as Record<string, unknown>[]).entries()) {
      const calls = (one.tool_calls ?? []) as { id: string; function: { name: string } }[];
      if (one.role === 'assistant' && calls.length === 0 && (one.content ?? '') === '')
        return `Invalid assistant message: 'messages[${index}]' has neither content nor tool_calls`;
      for (const [place, call] of calls.entries()) {
        if (call.id.length > 40)
          return `Invalid 'messages[${index}].tool_calls[${place}].id': string too long. Expected a string with maximum length 40, but got a string with length ${call.id.length} instead.`;
        if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name))
          return `Invalid 'messages[${index}].tool_calls[${place}].function.name': string does not match pattern.`;
      }
    }
    return refusalOf(messages);
  },
  events(answer) {
    const data = (delta: object, finish: string | null = null, usage?: object) =>
      `data: ${JSON.stringify({ id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: usage === undefined ? [{ index: 0, delta, finish_reason: finish }] : [], ...(usage === undefined ? {} : { usage }) })}\n\n`;
    const calls = answer.calls ?? [];
    return [
      data({ role: 'assistant', content: '' }),
      ...(answer.reasoning === undefined ? [] : [data({ reasoning_content: answer.reasoning })]),
      ...pieces(answer.text ?? '', answer.pieces ?? 3).map((content) => data({ content })),
      ...calls.flatMap((call, index) => {
        const id = call.id ?? `call_${Math.random().toString(36).slice(2, 12)}`;
        const [first = '', ...rest] = pieces(argumentsOf(call.input), 2);
        return [
          data({
            tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: first } }],
          }),
          ...rest.map((part) => data({ tool_calls: [{ index, function: { arguments: part } }] })),
        ];
      }),
      data({}, FINISH[answer.finish ?? 'whole'] ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      data({}, null, usageOf(answer)),
      'data: [DONE]\n\n',
    ];
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_error' : 'invalid_request_error',
      code: null,
      param: null,
    },
  }),
};

function readMessages(all: readonly Record<string, unknown>[]): SeenMessage[] {
  const messages: SeenMessage[] = [];
  for (const one of all) {
    const text = textOf(one.content);
    if (one.role === 'tool') {
      const result = { id: String(one.tool_call_id), output: text };
      const last = messages.at(-1);
      if (last?.role === 'results')
        messages[messages.length - 1] = { ...last, results: [...last.results, result] };
      else messages.push({ role: 'results', text: '', calls: [], results: [result] });
    } else {
      const calls = ((one.tool_calls ?? []) as { id: string; function: { name: string } }[]).map((call) => ({
        id: call.id,
        name: call.function.name,
      }));
      messages.push({ role: one.role as 'user' | 'assistant', text, calls, results: [] });
    }
  }
  return messages;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}

function usageOf({ usage }: Answer): object {
  const { input, output, cached = 0, reasoning = 0 } = usage ?? { input: 10, output: 5 };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached !== null && { prompt_tokens_details: { cached_tokens: cached } }),
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

export function startOpenAiChatServer(options: ProtocolServerOptions): Promise<ProtocolServer> {
  return startProtocolServer(protocol, options);
}
