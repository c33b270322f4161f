import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3TextPart,
  LanguageModelV4,
  LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import { Gate } from '../../src/models/gate/gate.ts';
import type { Model, ModelRequest, SdkModel } from '../../src/models/model.ts';
import { openModel } from '../../src/models/providers.ts';
import { openSdkModel } from '../../src/models/sdk-model.ts';
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

/** The same with a model object of the AI SDK for this address; `version`: which version of the specification it speaks. */
export async function openSdk(
  protocol: (typeof PROTOCOLS)[number],
  answer: Answerer,
  { attempts = 3, idle_ms = 5_000 }: ConnectOptions = {},
  version: 'v3' | 'v4' = 'v4',
): Promise<UnderTest> {
  const server = await protocol.start({ answer });
  const object = SDK_MODELS[protocol.type](server.url + protocol.path, protocol.model);
  const name = `${object.provider}/${object.modelId}`;
  const model = openSdkModel(name, version === 'v4' ? object : inVersion3(object), {
    providers: {},
    idle_timeout_ms: idle_ms,
    gates: new Map([[name, new Gate({ attempts, patience_ms: 0, base_ms: 2, max_ms: 100 })]]),
  });
  return { server, model };
}

/** The object as one of version 3, which refuses what only version 4 has. */
function inVersion3(object: LanguageModelV4): SdkModel {
  const doStream = ({ prompt, ...options }: LanguageModelV3CallOptions) => {
    if ('reasoning' in options) throw new Error('version 3 has no option "reasoning"');
    const wrapped = prompt.map((one) =>
      one.role === 'user' ? { ...one, content: one.content.map(inVersion4) } : one,
    );
    return object.doStream({ ...options, prompt: wrapped } as LanguageModelV4CallOptions);
  };
  // With the headers, in which the key is.
  const { provider, modelId, config } = object as LanguageModelV4 & { readonly config: unknown };
  return { ...{ provider, modelId, config, doStream }, specificationVersion: 'v3' } as SdkModel;
}

function inVersion4(part: LanguageModelV3TextPart | LanguageModelV3FilePart): object {
  if (part.type === 'text') return part;
  if (typeof part.data !== 'string') throw new Error('a picture of version 3 is base64');
  return { ...part, data: { type: 'data', data: part.data } };
}

const SDK_MODELS = {
  anthropic: (baseURL: string, model: string) => createAnthropic({ baseURL, apiKey: KEY })(model),
  openai: (baseURL: string, model: string) => createOpenAI({ baseURL, apiKey: KEY })(model),
  'openai-compatible': (baseURL: string, model: string) =>
    createOpenAICompatible({ baseURL, apiKey: KEY, name: 'local', includeUsage: true })(model),
  google: (baseURL: string, model: string) => createGoogle({ baseURL, apiKey: KEY })(model),
} satisfies Readonly<Record<string, (baseURL: string, model: string) => LanguageModelV4>>;

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
