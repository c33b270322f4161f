import type { Answer, Exchange } from './brain.ts';

const REFUSALS: Readonly<Record<string, (tokens: number, window: number) => string>> = {
  anthropic: (tokens, window) => `prompt is too long: ${tokens} tokens > ${window} maximum`,
  openai: (tokens, window) =>
    `Your input exceeds the context window: it has ${tokens} tokens, and the maximum context length is ${window}.`,
  'openai-compatible': (tokens, window) =>
    `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`,
  google: (tokens, window) =>
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
};

/**
 * A server that counts tokens as providers do: of the whole body, four characters per token. It refuses requests longer than the window, gives summaries,
 * and calls the tool until its output starts with `last`.
 */
export function countingServer(
  window: number,
  type: string,
  refused: Exchange[],
  [name, input]: readonly [string, object],
): (exchange: Exchange) => Answer {
  return (exchange) => {
    const tokens = Math.ceil(exchange.raw.length / 4);
    if (tokens > window) {
      refused.push(exchange);
      return { fault: { status: 400, message: REFUSALS[type]?.(tokens, window) ?? '' } };
    }
    const usage = { input: tokens, output: 20 };
    const last = exchange.messages.at(-1);
    if (last?.text.includes('replaced by your summary')) return { text: 'So far I have counted.', usage };
    if (/You are now "\w+"/.test(last?.text ?? '')) return { text: 'I am here.', usage };
    if (/^FORK/.test(last?.text ?? ''))
      return { calls: [{ name: 'fork', input: { name: 'kid', prompt: 'stay' } }], usage };
    if (last?.results.some(({ output }) => output.startsWith('last'))) return { text: 'All counted.', usage };
    return { calls: [{ name, input }], usage };
  };
}
