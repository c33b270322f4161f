import type { Model, ModelRequest } from '../../src/models/model.ts';
import { openModel } from '../../src/models/providers.ts';
import { Gate } from '../../src/models/rate-limit-gate.ts';
import { startAnthropicServer } from '../servers/anthropic-server.ts';
import type { Answerer } from '../servers/brain.ts';
import { startGoogleServer } from '../servers/google-server.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { startOpenAiResponsesServer } from '../servers/openai-responses-server.ts';
import type { ProtocolServer } from '../servers/protocol-server.ts';

export interface UnderTest {
  readonly server: ProtocolServer;
  readonly model: Model;
}

export const KEY = 'sk-very-secret-key-123';

/** The four wire protocols, each with a model name that supports reasoning there. */
export const PROTOCOLS = [
  { type: 'anthropic', model: 'claude-sonnet-4-5', path: '/v1', start: startAnthropicServer },
  { type: 'openai', model: 'gpt-5', path: '/v1', start: startOpenAiResponsesServer },
  { type: 'openai-compatible', model: 'any', path: '/v1', start: startOpenAiChatServer },
  { type: 'google', model: 'gemini-2.5-flash', path: '/v1beta', start: startGoogleServer },
] as const;

/** Starts a server of this protocol and a model connected to it; retries wait only milliseconds. */
export async function open(
  protocol: (typeof PROTOCOLS)[number],
  answer: Answerer,
  options: {
    readonly attempts?: number;
    readonly idle_ms?: number;
    readonly model?: string;
    readonly window?: number;
  } = {},
): Promise<UnderTest> {
  const server = await protocol.start({ answer });
  const { model: id = protocol.model, window } = options;
  const name = `local/${id}`;
  const models = window === undefined ? {} : { models: { [id]: { contextWindow: window } } };
  const model = await openModel(name, {
    providers: {
      local: { type: protocol.type, baseURL: server.url + protocol.path, apiKeyEnv: 'LOCAL_KEY', ...models },
    },
    env: { LOCAL_KEY: KEY },
    idle_timeout_ms: options.idle_ms ?? 5_000,
    gates: new Map([[name, new Gate({ attempts: options.attempts ?? 3, base_ms: 2, max_ms: 100 })]]),
  });
  return { server, model };
}

export function ask(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You are a test.',
    messages: [{ role: 'user', text: 'hello' }],
    tools: [
      {
        name: 'fork',
        description: 'Fork.',
        input: {
          type: 'object',
          properties: { n: { type: 'number' } },
          required: ['n'],
          additionalProperties: false,
        },
      },
    ],
    thinking: 'off',
    shared_prefix: 0,
    signal: new AbortController().signal,
    agent: { id: 'a', name: 'main', parent_id: null },
    ...over,
  };
}
