import { Gate } from '../../src/models/gate/gate.ts';
import type { Model, ModelRequest } from '../../src/models/model.ts';
import { openModel } from '../../src/models/providers.ts';
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

interface ConnectOptions {
  readonly attempts?: number;
  readonly idle_ms?: number;
  readonly window?: number;
}

/** A model of the provider `local` at this address; retries wait only milliseconds. */
export function connect(
  type: (typeof PROTOCOLS)[number]['type'],
  baseURL: string,
  model: string,
  { attempts = 3, idle_ms = 5_000, window }: ConnectOptions = {},
): Promise<Model> {
  const name = `local/${model}`;
  const models = window === undefined ? {} : { models: { [model]: { contextWindow: window } } };
  return openModel(name, {
    providers: { local: { type, baseURL, apiKeyEnv: 'LOCAL_KEY', ...models } },
    env: { LOCAL_KEY: KEY },
    idle_timeout_ms: idle_ms,
    gates: new Map([[name, new Gate({ attempts, patience_ms: 0, base_ms: 2, max_ms: 100 })]]),
  });
}

/** Starts a server of this protocol and a model connected to it. */
export async function open(
  protocol: (typeof PROTOCOLS)[number],
  answer: Answerer,
  options: ConnectOptions & { readonly model?: string } = {},
): Promise<UnderTest> {
  const server = await protocol.start({ answer });
  const { model = protocol.model } = options;
  return { server, model: await connect(protocol.type, server.url + protocol.path, model, options) };
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
