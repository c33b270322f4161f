import { argumentsOf, pieces, refusalOf, type SeenMessage } from './brain.ts';
import {
  type Protocol,
  type ProtocolServer,
  type ProtocolServerOptions,
  startProtocolServer,
} from './protocol-server.ts';

type Item = Record<string, unknown>;

/** Encrypted content of reasoning items; the server accepts no other. */
const SEALED = 'sealed';

/** OpenAI's Responses API, streaming. */
const protocol: Protocol = {
  accepts: (path) => /\/responses(?:\?.*)?$/.test(path),
  read(body) {
    const items = body.input as Item[];
    const system = items
      .filter((item) => item.role === 'system' || item.role === 'developer')
      .map((item) => String(item.content))
      .join('\n');
    return {
      system,
      messages: readItems(items.filter((item) => item.role !== 'system' && item.role !== 'developer')),
    };
  },
  refuse(body, messages) {
    const items = body.input as Item[];
    const ids = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      if (item.id !== undefined && ids.has(item.id)) return `Duplicate item found with id ${item.id}.`;
      if (item.id !== undefined) ids.add(item.id);
      const next = items[index + 1];
      if (item.type === 'reasoning') {
        if (item.encrypted_content !== SEALED)
          return `The encrypted content for item ${item.id} could not be verified.`;
        const follows =
          next?.type === 'function_call' || next?.type === 'reasoning' || next?.role === 'assistant';
        if (!follows)
          return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
      }
      const { call_id, name } = item;
      if (typeof call_id === 'string' && call_id.length > 64)
        return `Invalid 'input[${index}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${call_id.length} instead.`;
      if (item.type === 'function_call' && !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
        return `Invalid 'input[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    }
    return refusalOf(messages);
  },
  events(answer) {
    const event = (type: string, data: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
    const { input, output, cached = 0, reasoning = 0 } = answer.usage ?? { input: 10, output: 5 };
    const events: string[] = [
      event('response.created', { response: { id: 'resp_1', created_at: 1, model: 'm' } }),
    ];
    let output_index = 0;
    if (answer.reasoning !== undefined) {
      const id = `rs_${Math.random().toString(36).slice(2, 12)}`;
      const item = { type: 'reasoning', id, summary: [], encrypted_content: SEALED };
      events.push(event('response.output_item.added', { output_index, item }));
      events.push(event('response.reasoning_summary_part.added', { item_id: id, summary_index: 0 }));
      events.push(
        event('response.reasoning_summary_text.delta', {
          item_id: id,
          summary_index: 0,
          delta: answer.reasoning,
        }),
      );
      events.push(event('response.reasoning_summary_part.done', { item_id: id, summary_index: 0 }));
      events.push(
        event('response.output_item.done', {
          output_index,
          item: { ...item, summary: [{ type: 'summary_text', text: answer.reasoning }] },
        }),
      );
      output_index += 1;
    }
    if (answer.finish === 'refused') {
      const id = `msg_${Math.random().toString(36).slice(2, 12)}`;
      const item = { type: 'message', id, role: 'assistant', content: [] as object[] };
      events.push(event('response.output_item.added', { output_index, item }));
      const refusal = answer.text ?? 'I cannot help with that.';
      events.push(
        event('response.refusal.delta', { item_id: id, output_index, content_index: 0, delta: refusal }),
        event('response.refusal.done', { item_id: id, output_index, content_index: 0, refusal }),
        event('response.output_item.done', {
          output_index,
          item: { ...item, content: [{ type: 'refusal', refusal }] },
        }),
      );
    } else if (answer.text) {
      const id = `msg_${Math.random().toString(36).slice(2, 12)}`;
      events.push(
        event('response.output_item.added', {
          output_index,
          item: { type: 'message', id, role: 'assistant', content: [] },
        }),
      );
      for (const delta of pieces(answer.text, answer.pieces ?? 3)) {
        events.push(
          event('response.output_text.delta', { item_id: id, output_index, content_index: 0, delta }),
        );
      }
      events.push(
        event('response.output_item.done', {
          output_index,
          item: {
            type: 'message',
            id,
            role: 'assistant',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          },
        }),
      );
      output_index += 1;
    }
    for (const call of answer.calls ?? []) {
      const unique = Math.random().toString(36).slice(2, 12);
      const item = {
        type: 'function_call',
        id: `fc_${unique}`,
        call_id: call.id ?? `call_${unique}`,
        name: call.name,
        ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
      };
      events.push(
        event('response.output_item.added', {
          output_index,
          item: { ...item, arguments: '', status: 'in_progress' },
        }),
      );
      for (const delta of pieces(argumentsOf(call.input), 2)) {
        events.push(
          event('response.function_call_arguments.delta', { item_id: item.id, output_index, delta }),
        );
      }
      events.push(
        event('response.output_item.done', {
          output_index,
          item: { ...item, arguments: argumentsOf(call.input), status: 'completed' },
        }),
      );
      output_index += 1;
    }
    const incomplete = answer.finish === 'length' || answer.finish === 'blocked';
    events.push(
      event(incomplete ? 'response.incomplete' : 'response.completed', {
        response: {
          id: 'resp_1',
          incomplete_details: incomplete
            ? { reason: answer.finish === 'length' ? 'max_output_tokens' : 'content_filter' }
            : null,
          usage: {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: reasoning },
            total_tokens: input + output,
          },
        },
      }),
    );
    return events;
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_exceeded' : 'invalid_request_error',
      param: null,
      code: null,
    },
  }),
};

/** Merges the flat list of items into messages: adjacent items of one role, except user messages, form one message. */
function readItems(items: readonly Item[]): SeenMessage[] {
  const messages: SeenMessage[] = [];
  const join = (role: SeenMessage['role'], add: Partial<SeenMessage>) => {
    const last = messages.at(-1);
    const into = last?.role === role && role !== 'user' ? last : { role, text: '', calls: [], results: [] };
    const joined = {
      ...into,
      text: into.text + (add.text ?? ''),
      calls: [...into.calls, ...(add.calls ?? [])],
      results: [...into.results, ...(add.results ?? [])],
    };
    if (into === last) messages[messages.length - 1] = joined;
    else messages.push(joined);
  };
  for (const item of items) {
    if (item.type === 'function_call')
      join('assistant', { calls: [{ id: String(item.call_id), name: String(item.name) }] });
    else if (item.type === 'function_call_output')
      join('results', { results: [{ id: String(item.call_id), output: textOf(item.output) }] });
    else if (item.role === 'user' || item.role === 'assistant')
      join(item.role, { text: textOf(item.content) });
  }
  return messages;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}

export function startOpenAiResponsesServer(options: ProtocolServerOptions): Promise<ProtocolServer> {
  return startProtocolServer(protocol, options);
}
