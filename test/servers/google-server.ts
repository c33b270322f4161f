import { argumentsOf, pieces, refusalOf, type SeenMessage } from './brain.ts';
import {
  type Protocol,
  type ProtocolServer,
  type ProtocolServerOptions,
  startProtocolServer,
} from './protocol-server.ts';

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: unknown };
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

const FINISH: Readonly<Record<string, string>> = {
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
  blocked: 'PROHIBITED_CONTENT',
};

/** Google's `streamGenerateContent`. Its calls have no ids: results are matched to them by order. */
const protocol: Protocol = {
  accepts: (path) => /:streamGenerateContent\?alt=sse(?:&.*)?$/.test(path),
  read(body) {
    const system = ((body.systemInstruction as { parts?: Part[] } | undefined)?.parts ?? [])
      .map((part) => part.text ?? '')
      .join('\n');
    let turn = 0;
    const messages = (body.contents as Content[]).flatMap(({ role, parts }): SeenMessage[] => {
      const text = parts.flatMap((part) => (part.thought ? [] : [part.text ?? ''])).join('');
      if (role === 'model') {
        turn += 1;
        const calls = parts
          .flatMap((part) => part.functionCall ?? [])
          .map((call, index) => ({ id: `${turn}.${index}`, name: call.name }));
        return [{ role: 'assistant', text, calls, results: [] }];
      }
      const results = parts
        .flatMap((part) => part.functionResponse ?? [])
        .map((result, index) => ({ id: `${turn}.${index}`, output: outputOf(result.response) }));
      const found: SeenMessage[] =
        results.length > 0 ? [{ role: 'results', text: '', calls: [], results }] : [];
      if (results.length === 0 || parts.some((part) => part.functionResponse === undefined))
        found.push({ role: 'user', text, calls: [], results: [] });
      return found;
    });
    return { system, messages };
  },
  refuse(body, messages) {
    const contents = body.contents as Content[];
    for (const [index, content] of contents.entries()) {
      // Google accepts two consecutive user contents, but not two of the model.
      if (content.role === 'model' && contents[index - 1]?.role !== 'user')
        return `contents[${index}]: a model turn must come after a user turn`;
      if (content.parts.length === 0) return `contents[${index}]: parts must not be empty`;
      if (content.parts.some((part) => part.text === '')) return `contents[${index}]: empty text parameter`;
      if (content.role === 'model' && content.parts.every((part) => part.thought === true))
        return `GenerateContentRequest.contents[${index}].parts: contents must have at least one part that is no thought`;
      for (const [place, { functionCall }] of content.parts.entries())
        if (functionCall !== undefined && !/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(functionCall.name))
          return `GenerateContentRequest.contents[${index}].parts[${place}].function_call.name: Invalid function name.`;
      const asked = names(contents[index - 1]?.parts.flatMap((part) => part.functionCall ?? []));
      const told = names(content.parts.flatMap((part) => part.functionResponse ?? []));
      if (asked.length !== told.length)
        return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
      if (asked.join() !== told.join())
        return `GenerateContentRequest.contents[${index}].parts: function response name does not match its function call`;
    }
    return refusalOf(messages);
  },
  events(answer) {
    const { input, output, cached = 0, reasoning = 0 } = answer.usage ?? { input: 10, output: 5 };
    const usageMetadata = {
      promptTokenCount: input,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      cachedContentTokenCount: cached,
      totalTokenCount: input + output,
    };
    const data = (parts: readonly object[], finishReason?: string) =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) }], ...(finishReason === undefined ? {} : { usageMetadata }) })}\r\n\r\n`;
    return [
      ...(answer.reasoning === undefined ? [] : [data([{ text: answer.reasoning, thought: true }])]),
      ...pieces(answer.text ?? '', answer.pieces ?? 3).map((text) => data([{ text }])),
      ...(answer.calls ?? []).map((call) =>
        data([
          {
            functionCall: { name: call.name, args: JSON.parse(argumentsOf(call.input)) },
            thoughtSignature: 'signed',
          },
        ]),
      ),
      data([{ text: '' }], FINISH[answer.finish ?? 'whole'] ?? 'STOP'),
    ];
  },
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INVALID_ARGUMENT' },
  }),
};

function names(calls: readonly { readonly name: string }[] = []): string[] {
  return calls.map((call) => call.name);
}

function outputOf(response: unknown): string {
  const { content } = response as { content?: unknown };
  return typeof content === 'string' ? content : JSON.stringify(response);
}

export function startGoogleServer(options: ProtocolServerOptions): Promise<ProtocolServer> {
  return startProtocolServer(protocol, options);
}
