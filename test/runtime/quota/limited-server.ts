import * as z from 'zod';
import { Gate } from '../../../src/models/gate/gate.ts';
import { openModel } from '../../../src/models/providers.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { closeLater } from '../../close-opened.ts';
import type { Answer, Exchange, Fault } from '../../servers/brain.ts';
import { forkingBrain } from '../../servers/forking-brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { StageOptions } from '../stage.ts';

/** How a server refuses every request with this key. */
export const REFUSALS = {
  hour: { status: 429, message: 'usage limit', headers: { 'retry-after': '3600' } },
  soon: {
    status: 429,
    message: 'The usage limit has been reached',
    body: { error: { message: 'The usage limit has been reached', resets_in_seconds: 2 } },
  },
  credit: {
    status: 429,
    message: 'quota',
    body: { error: { message: 'You exceeded your current quota', type: 'insufficient_quota' } },
  },
  key: { status: 401, message: 'Incorrect API key provided' },
  model: { status: 404, message: 'The model `any` does not exist' },
  busy: { status: 529, message: 'Overloaded' },
  bare: { status: 429, message: 'Too Many Requests' },
} satisfies Record<string, Fault>;

/** A server of two keys and the models that agents reach it by: `one/any` and `two/any`. Each key can be refused from some answer on. */
export async function limitedServer(brain: (exchange: Exchange) => Answer | Promise<Answer> = forkingBrain) {
  /** By key: how it is refused, the number of answers that it still gives, and of refusals after which it answers again. */
  const limits = new Map<string, { fault: Fault; after: number; times: number }>();
  const asked: string[] = [];
  let answers = 0;
  const server = await startOpenAiChatServer({
    answer: (exchange): Answer | Promise<Answer> => {
      const key = String(exchange.headers.authorization).replace('Bearer ', '');
      asked.push(key);
      const limit = limits.get(key);
      if (limit !== undefined && limit.after <= 0 && limit.times > 0) {
        limit.times -= 1;
        return { fault: limit.fault };
      }
      if (limit !== undefined) limit.after -= 1;
      answers += 1;
      return brain(exchange);
    },
    record: false,
  });
  closeLater(() => server.close());
  /** The models of a process of its own. */
  const models = async (
    now: () => number = Date.now,
    key = 'key-one',
    attempts = 2,
  ): Promise<NonNullable<StageOptions['models']>> => {
    const provider = { type: 'openai-compatible' as const, baseURL: `${server.url}/v1` };
    const terms = {
      providers: { one: { ...provider, apiKeyEnv: 'ONE' }, two: { ...provider, apiKeyEnv: 'TWO' } },
      env: { ONE: key, TWO: 'key-two' },
      ...{ doors: new Map(), now },
      gates: new Map(
        ['one/any', 'two/any'].map((name) => [
          name,
          new Gate({ patience_ms: 0, attempts, base_ms: 2, max_ms: 60_000 }),
        ]),
      ),
    };
    return { 'one/any': await openModel('one/any', terms), 'two/any': await openModel('two/any', terms) };
  };
  return {
    models,
    ...{ url: server.url, close: () => server.close(), reopen: () => server.reopen() },
    /** Keys of all requests, in order. */
    asked,
    answers: () => answers,
    refuse: (key: string, fault: Fault, after = 0, times = Number.POSITIVE_INFINITY) =>
      limits.set(key, { fault, after, times }),
    allow: (key: string) => limits.delete(key),
  };
}

/** `bash` without a shell: what it has echoed, in order. */
export function echoTool(effects: string[]): Tool {
  return defineTool({
    name: 'bash',
    description: 'Echoes.',
    input: z.object({ command: z.string() }),
    permission: { default: 'allow' },
    run: ({ command }) => {
      const word = /echo (\S+)/.exec(command)?.[1] ?? '';
      effects.push(word);
      return word;
    },
  }) as Tool;
}
