import type { Event, Protocol, Read } from './raw-answers.ts';

/** A good answer as each provider streams it: a thought, a text in two pieces, two calls, usage. */
export const GOOD: Readonly<Record<Protocol, readonly Event[]>> = {
  anthropic: [
    {
      type: 'message_start',
      message: {
        id: 'msg_01',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 25,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 4,
          output_tokens: 1,
        },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me see.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQBCgIYAhIM' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Two forks: 世界' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' 👩‍👩‍👧.' } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'fork', input: {} },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"n":' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } },
    { type: 'content_block_stop', index: 2 },
    {
      type: 'content_block_start',
      index: 3,
      content_block: { type: 'tool_use', id: 'toolu_2', name: 'fork', input: {} },
    },
    { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"n":2}' } },
    { type: 'content_block_stop', index: 3 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 89 },
    },
    { type: 'message_stop' },
  ],
  'openai-compatible': [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Let me see.' }),
    chunk({ content: 'Two forks: 世界' }),
    chunk({ content: ' 👩‍👩‍👧.' }),
    chunk({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'fork', arguments: '' } }],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"n":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({
      tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'fork', arguments: '' } }],
    }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '{"n":2}' } }] }),
    chunk({}, 'tool_calls'),
    {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: {
        prompt_tokens: 25,
        completion_tokens: 89,
        total_tokens: 114,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 9 },
      },
    },
    'data: [DONE]\n\n',
  ],
  openai: [
    { type: 'response.created', sequence_number: 0, response: response('in_progress', []) },
    { type: 'response.in_progress', sequence_number: 1, response: response('in_progress', []) },
    { ...item('added', 0), item: { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAA', summary: [] } },
    {
      type: 'response.reasoning_summary_part.added',
      ...at('rs_1', 0),
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    {
      type: 'response.reasoning_summary_text.delta',
      ...at('rs_1', 0),
      summary_index: 0,
      delta: 'Let me see.',
    },
    { type: 'response.reasoning_summary_text.done', ...at('rs_1', 0), summary_index: 0, text: 'Let me see.' },
    {
      type: 'response.reasoning_summary_part.done',
      ...at('rs_1', 0),
      summary_index: 0,
      part: { type: 'summary_text', text: 'Let me see.' },
    },
    { ...item('done', 0), item: reasoning() },
    {
      ...item('added', 1),
      item: { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
    },
    {
      type: 'response.content_part.added',
      ...at('msg_1', 1),
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', ...at('msg_1', 1), content_index: 0, delta: 'Two forks: 世界' },
    { type: 'response.output_text.delta', ...at('msg_1', 1), content_index: 0, delta: ' 👩‍👩‍👧.' },
    {
      type: 'response.output_text.done',
      ...at('msg_1', 1),
      content_index: 0,
      text: 'Two forks: 世界 👩‍👩‍👧.',
    },
    { type: 'response.content_part.done', ...at('msg_1', 1), content_index: 0, part: text() },
    { ...item('done', 1), item: message() },
    { ...item('added', 2), item: { ...call(1, ''), status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', ...at('fc_1', 2), delta: '{"n":' },
    { type: 'response.function_call_arguments.delta', ...at('fc_1', 2), delta: '1}' },
    { type: 'response.function_call_arguments.done', ...at('fc_1', 2), arguments: '{"n":1}' },
    { ...item('done', 2), item: call(1, '{"n":1}') },
    { ...item('added', 3), item: { ...call(2, ''), status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', ...at('fc_2', 3), delta: '{"n":2}' },
    { type: 'response.function_call_arguments.done', ...at('fc_2', 3), arguments: '{"n":2}' },
    { ...item('done', 3), item: call(2, '{"n":2}') },
    {
      type: 'response.completed',
      sequence_number: 30,
      response: response('completed', [reasoning(), message(), call(1, '{"n":1}'), call(2, '{"n":2}')]),
    },
  ],
  google: [
    gemini([{ text: 'Let me see.', thought: true }]),
    gemini([{ text: 'Two forks: 世界' }]),
    gemini([{ text: ' 👩‍👩‍👧.', thoughtSignature: 'CikB' }]),
    gemini([{ functionCall: { name: 'fork', args: { n: 1 } }, thoughtSignature: 'CikC' }]),
    gemini([{ functionCall: { name: 'fork', args: { n: 2 } } }], {
      finishReason: 'STOP',
    }),
  ],
};

/** What every one of them says. */
export const GOOD_READ: Read = {
  text: 'Two forks: 世界 👩‍👩‍👧.',
  reasoning: 'Let me see.',
  calls: [
    ['fork', { n: 1 }],
    ['fork', { n: 2 }],
  ],
  finish: 'calls',
  requests: 1,
};

export function chunk(delta: object, finish_reason: string | null = null) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    system_fingerprint: null,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  };
}

function at(item_id: string, output_index: number) {
  return { sequence_number: 2, item_id, output_index };
}

function item(what: 'added' | 'done', output_index: number) {
  return { type: `response.output_item.${what}`, sequence_number: 2, output_index };
}

function reasoning() {
  return {
    id: 'rs_1',
    type: 'reasoning',
    encrypted_content: 'gAAAB',
    summary: [{ type: 'summary_text', text: 'Let me see.' }],
  };
}

function text() {
  return { type: 'output_text', text: 'Two forks: 世界 👩‍👩‍👧.', annotations: [], logprobs: [] };
}

function message() {
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [text()] };
}

function call(n: number, input: string) {
  return {
    id: `fc_${n}`,
    type: 'function_call',
    status: 'completed',
    arguments: input,
    call_id: `call_${n}`,
    name: 'fork',
  };
}

function response(status: string, output: readonly object[]) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    error: null,
    incomplete_details: null,
    model: 'gpt-5',
    output,
    usage:
      status === 'completed'
        ? {
            input_tokens: 25,
            input_tokens_details: { cached_tokens: 4 },
            output_tokens: 89,
            output_tokens_details: { reasoning_tokens: 9 },
            total_tokens: 114,
          }
        : null,
  };
}

function gemini(parts: readonly object[], more: object = {}) {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: {
      promptTokenCount: 25,
      candidatesTokenCount: 80,
      totalTokenCount: 114,
      thoughtsTokenCount: 9,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 25 }],
    },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r1',
  };
}
