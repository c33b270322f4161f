import type { AnswerCollector } from '../provider/answer-collector.ts';

type Finish = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error';

/** Words for the end of an answer, of any protocol and vendor, in small letters: gateways mix them. */
const WORDS: Readonly<Partial<Record<Finish, string>>> = {
  length:
    'length max_tokens max_output_tokens max_new_tokens max_completion_tokens model_length token_limit context_length model_context_window_exceeded',
  'content-filter':
    'content_filter content-filter refusal safety recitation blocklist prohibited_content spii image_safety sensitive language',
  error:
    'error malformed_function_call insufficient_system_resource network_error aborted abort failed cancelled malformed_response unexpected_tool_call other',
};
const FINISH: ReadonlyMap<string, Finish> = new Map(
  Object.entries(WORDS).flatMap(([end, words]) => words.split(' ').map((word) => [word, end as Finish])),
);
/** What servers send before the end, instead of null. */
const NONE = new Set(['null', 'none', 'finish_reason_unspecified']);

/** Whether a word says that the answer has ended. */
export function isFinish(word: string | undefined): word is string {
  return word !== undefined && !NONE.has(word.toLowerCase());
}

/** Tokens that a server reports of one request. */
export interface Tokens {
  readonly input?: number | undefined;
  readonly cached?: number | undefined;
  readonly written?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/**
 * Ends the answer with a word of the server; an unknown one, such as `eos`, is the end of a complete answer. `refused`: the model has refused to answer, which
 * some servers call a usual end.
 */
export function endAnswer(
  collector: AnswerCollector,
  raw: string | undefined,
  { input, cached, written, output, reasoning }: Tokens,
  refused = false,
): void {
  const usual = collector.called ? 'tool-calls' : refused ? 'content-filter' : 'stop';
  collector.add({
    type: 'finish',
    finishReason: { unified: FINISH.get(raw?.toLowerCase() ?? '') ?? usual, raw },
    usage: {
      inputTokens: { total: input, noCache: undefined, cacheRead: cached, cacheWrite: written },
      outputTokens: { total: output, text: undefined, reasoning },
    },
  });
}
