type Finish = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error';

/** Words for the end of an answer, of any protocol and vendor, in small letters: gateways mix them. */
const FINISH: ReadonlyMap<string, Finish> = new Map([
  ...['length', 'max_tokens', 'max_output_tokens', 'max_new_tokens', 'max_completion_tokens'].map(length),
  ...['model_length', 'token_limit', 'context_length', 'model_context_window_exceeded'].map(length),
  ...['content_filter', 'content-filter', 'refusal', 'safety', 'recitation', 'blocklist'].map(filtered),
  ...['prohibited_content', 'spii', 'image_safety', 'sensitive', 'language'].map(filtered),
  ...['error', 'malformed_function_call', 'insufficient_system_resource', 'network_error', 'aborted'].map(
    failed,
  ),
  ...['abort', 'failed', 'cancelled', 'malformed_response', 'unexpected_tool_call', 'other'].map(failed),
]);
/** What servers send before the end, instead of null. */
const NONE = new Set(['null', 'none', 'finish_reason_unspecified']);

function length(word: string): [string, Finish] {
  return [word, 'length'];
}

function filtered(word: string): [string, Finish] {
  return [word, 'content-filter'];
}

function failed(word: string): [string, Finish] {
  return [word, 'error'];
}

/** Whether a word says that the answer has ended. */
export function isFinish(word: string | undefined): word is string {
  return word !== undefined && !NONE.has(word.toLowerCase());
}

/** What a word for the end means; an unknown one, such as `eos`, is the end of a complete answer. `called`: whether the answer has calls. */
export function finishOf(word: string | undefined, called: boolean): Finish {
  return FINISH.get(word?.toLowerCase() ?? '') ?? (called ? 'tool-calls' : 'stop');
}
