import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { isPrivate } from '../processes/hosts/private-addresses.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { given } from '../records/text/json-fields.ts';
import { noSuchName } from '../render/nearest-name.ts';
import type { OpenAcpOptions } from './agent-programs/open-acp-model.ts';
import { behindDoors, type Door, doorsOf } from './gate/closed-provider.ts';
import { Gate, gated } from './gate/gate.ts';
import type { Model } from './model.ts';
import { usualWindow } from './provider/context-windows.ts';
import { listedModels, listPrice } from './provider/prices.ts';
import { apiAddress, type Price, type ProviderConfig } from './provider/provider-config.ts';
import { memoryQuirks, mergeQuirks, type QuirkBook } from './provider/quirk-book.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenModelOptions extends Omit<OpenAcpOptions, 'env'> {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly env: Environment;
  /** Idle time after which a stream counts as broken, milliseconds. Default 120,000. */
  readonly idle_timeout_ms?: number;
  /** One gate per `provider/model`; share it between calls so that all agents of a process share the gates. */
  readonly gates?: Map<string, Gate>;
  /** Called now and then with what was learnt of a provider's limits, in words. */
  readonly onLearnt?: (model: string, learnt: string) => void;
  /** Providers that take no requests, shared like the gates. */
  readonly doors?: Map<string, Door>;
  /** The time by which they open, milliseconds; default the system's. */
  readonly now?: () => number;
  /** What servers do not take, shared like the gates; by default it is learnt for this model alone. */
  readonly quirks?: QuirkBook;
}

interface KnownProvider {
  readonly name: string;
  readonly type: ProviderConfig['type'];
  /** The first of these variables that is set holds the key; empty for servers without keys. */
  readonly key_env: readonly string[];
  readonly base_url_env?: string;
  readonly base_url?: string;
  /** Whether the server runs locally: tokens are free. */
  readonly free?: boolean;
}

const FREE: Price = { input: 0, output: 0 };

const KNOWN: readonly KnownProvider[] = [
  {
    name: 'anthropic',
    type: 'anthropic',
    key_env: ['ANTHROPIC_API_KEY'],
    base_url_env: 'ANTHROPIC_BASE_URL',
  },
  { name: 'openai', type: 'openai', key_env: ['OPENAI_API_KEY'], base_url_env: 'OPENAI_BASE_URL' },
  {
    name: 'google',
    type: 'google',
    key_env: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    base_url_env: 'GOOGLE_GEMINI_BASE_URL',
  },
  {
    name: 'openrouter',
    type: 'openai-compatible',
    key_env: ['OPENROUTER_API_KEY'],
    base_url: 'https://openrouter.ai/api/v1',
  },
  {
    name: 'ollama',
    type: 'openai-compatible',
    key_env: [],
    base_url_env: 'OLLAMA_HOST',
    base_url: 'http://127.0.0.1:11434/v1',
    free: true,
  },
  {
    name: 'lmstudio',
    type: 'openai-compatible',
    key_env: [],
    base_url: 'http://127.0.0.1:1234/v1',
    free: true,
  },
];

const DEFAULT_IDLE_MS = 120_000;
/** How often this long only signs of life may come: 16 minutes, or an hour where slow hardware may read a long prompt (decision 73). */
const STANDSTILL = 8;
const STANDSTILL_NEAR = 30;

/** Built-in and configured providers, with the variables that hold their keys, for `doctor` and for messages. */
export function knownProviders(
  providers: OpenModelOptions['providers'],
): readonly { readonly name: string; readonly key_env: readonly string[] }[] {
  const configured = Object.keys(providers).map((name) => findProvider(name, providers));
  return [...configured, ...KNOWN.filter(({ name }) => !Object.hasOwn(providers, name))].map(
    ({ name, key_env }) => ({ name, key_env }),
  );
}

/**
 * Opens `provider/model`, gated (or `scripted/PATH`, or `acp:NAME`, `acp:NAME/AGENT`). Rejects with a `CoppiceError`: `E_MODEL_UNKNOWN` names the nearest
 * provider, `E_NO_KEY` the variable that is missing, `E_RULES` what is wrong in a rule file.
 */
export async function openModel(name: string, options: OpenModelOptions): Promise<Model> {
  const scripted = /^scripted[:/](.+)$/s.exec(name)?.[1];
  if (scripted !== undefined) {
    const { openScriptedModel } = await import('./scripted/scripted-model.ts');
    return openScriptedModel(scripted);
  }
  if (name.startsWith('acp:')) {
    const { openAcpModel } = await import('./agent-programs/open-acp-model.ts');
    return openAcpModel(name.slice('acp:'.length), options);
  }
  const slash = name.indexOf('/');
  if (slash <= 0 || slash === name.length - 1) {
    throw new CoppiceError('E_MODEL_UNKNOWN', `"${name}" does not name a model`, {
      hint: `Write provider/model, for example anthropic/claude-sonnet-4-5. Providers: ${providerNames(options.providers).join(', ')}`,
    });
  }
  const provider = name.slice(0, slash);
  const model = name.slice(slash + 1);
  const found = findProvider(provider, options.providers);
  const config = ownValue(options.providers, provider);
  const key = keyOf(found, options.env);
  const known = config?.models?.[model];
  const base_url = baseUrlOf(found, options.env);
  // The provider code is large and loaded for the first model that needs it.
  const [{ askOf }, { createProviderModel }, { nearModel }] = await Promise.all([
    import('./provider-ask.ts'),
    import('./provider/provider-model.ts'),
    import('./provider/model-list.ts'),
  ]);
  if (found.type === 'openai-compatible' && base_url === undefined) {
    throw new CoppiceError('E_CONFIG', `provider ${provider} has no address`, {
      hint: `Set providers.${provider}.baseURL`,
    });
  }
  const idle_ms = options.idle_timeout_ms ?? DEFAULT_IDLE_MS;
  const book = options.quirks ?? memoryQuirks();
  const price = known?.price ?? (found.free === true ? FREE : listPrice(found.type, model));
  const is_near = isNear(base_url);
  const standstill_ms = idle_ms * (is_near ? STANDSTILL_NEAR : STANDSTILL);
  const reach = { type: found.type, provider, model, key, base_url, headers: config?.headers, idle_ms };
  const opened = createProviderModel({
    id: name,
    askFor: (quirks) => askOf({ ...reach, standstill_ms, quirks }),
    quirks: {
      of: () => mergeQuirks(book.of(name), config?.quirks, known?.quirks),
      learn: (_, quirks) => book.learn(name, quirks),
    },
    near: () => nearModel(model, { type: found.type, base_url, key, headers: config?.headers }),
    context_window: contextWindow(name, options.providers),
    price,
    caches_prefixes: config?.siblingsWait ?? (found.type !== 'openai-compatible' && !is_near),
    key_env: keyVariable(found, options.env),
    secrets: [...(key === null ? [] : [key]), ...secretHeaders(config)],
    trusts_own_ids: found.type === 'openai-compatible' || found.type === 'google',
    thinks_throughout: found.type === 'anthropic',
  });
  const is_free = (is_near || found.free === true) && !price?.input && !price?.output;
  const places = {
    provider,
    model,
    reached: `${found.type} ${base_url} ${key}`,
    probe: config?.probeSeconds,
  };
  const doors = doorsOf(places, options.doors ?? new Map(), options.now);
  const gate = gateOf(name, key, config, options, {
    ...(is_near ? { base_url } : {}),
    queues: found.free === true,
  });
  return behindDoors({ ...opened, is_free }, (one) => gated(one, gate), doors);
}

/** Models that can be used now: those of the configuration and those with a list price, of providers that need no key or have one. */
export function usableModels({
  providers,
  env,
}: Pick<OpenModelOptions, 'providers' | 'env'>): readonly string[] {
  return knownProviders(providers).flatMap(({ name }) => {
    const found = findProvider(name, providers);
    if (found.key_env.length > 0 && keyVariable(found, env) === null) return [];
    const models = [...Object.keys(ownValue(providers, name)?.models ?? {}), ...listedModels(found.type)];
    return [...new Set(models)].map((model) => `${name}/${model}`);
  });
}

/** The context window of `provider/model` in tokens, input and output together: from the configuration, or else of a known model; null if unknown. */
export function contextWindow(name: string, providers: OpenModelOptions['providers']): number | null {
  const [provider = '', ...rest] = name.split('/');
  const model = rest.join('/');
  const config = ownValue(providers, provider);
  const known = config?.models === undefined ? undefined : ownValue(config.models, model)?.contextWindow;
  const type = config?.type ?? KNOWN.find((one) => one.name === provider)?.type;
  return known ?? (type === undefined ? null : usualWindow(type, model));
}

/** Returns how to reach a provider. Throws the errors that `openModel` rejects with. */
export function reachOf(
  name: string,
  { providers, env }: Pick<OpenModelOptions, 'providers' | 'env'>,
): {
  readonly type: ProviderConfig['type'];
  readonly key: string | null;
  readonly base_url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
} {
  const found = findProvider(name, providers);
  const headers = ownValue(providers, name)?.headers ?? {};
  return { type: found.type, key: keyOf(found, env), base_url: baseUrlOf(found, env), headers };
}

/** Requests at once to a server on this machine or network that does not say how many it takes. */
const NEAR_START = 16;
const NEAR_QUEUE_MS = 1_000;

/** `base_url`: of a server on this machine or network. `queues`: whether it is known to queue requests. */
function gateOf(
  name: string,
  key: string | null,
  config: ProviderConfig | undefined,
  options: OpenModelOptions,
  { base_url, queues }: { readonly base_url?: string | undefined; readonly queues: boolean },
): Gate {
  // Two keys have two limits.
  const whose = key === null ? name : `${name} ${hash('sha256', key)}`;
  const known = options.gates?.get(whose) ?? options.gates?.get(name);
  if (known !== undefined) return known;
  const most = config?.maxConcurrent;
  const gate = new Gate({
    onLearnt: (learnt) => options.onLearnt?.(name, learnt),
    ...(most !== undefined && { start: most, most }),
    ...(base_url !== undefined && {
      queue_ms: NEAR_QUEUE_MS,
      ...(most === undefined && {
        start: NEAR_START,
        opens: !queues,
        slots: async () => (await import('./gate/server-slots.ts')).serverSlots(base_url, key),
      }),
    }),
  });
  options.gates?.set(whose, gate);
  return gate;
}

function findProvider(name: string, providers: OpenModelOptions['providers']): KnownProvider {
  const config = ownValue(providers, name);
  const known = KNOWN.find((one) => one.name === name);
  if (config !== undefined) {
    // An entry for a built-in provider overrides only the keys that it sets.
    const { key_env = [], base_url, base_url_env } = known?.type === config.type ? known : {};
    return {
      name,
      type: config.type,
      key_env: config.apiKeyEnv === undefined ? key_env : [config.apiKeyEnv],
      ...(known?.free === true && config.baseURL === undefined && { free: true }),
      ...(config.baseURL !== undefined ? { base_url: config.baseURL } : given({ base_url, base_url_env })),
    };
  }
  if (known !== undefined) return known;
  throw noSuchName('E_MODEL_UNKNOWN', 'no provider called', name, providerNames(providers), 'Providers');
}

function providerNames(providers: OpenModelOptions['providers']): readonly string[] {
  return [...new Set([...Object.keys(providers), ...KNOWN.map((one) => one.name), 'scripted'])];
}

/** Whether the provider needs no entry in the configuration. */
export function isBuiltIn(name: string): boolean {
  return KNOWN.some((one) => one.name === name);
}

/** Own properties only: `constructor/x` is not a provider. */
function ownValue<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Configured headers may carry a token, usually after its scheme (`Bearer`): values are returned with and without it. */
function secretHeaders(config: ProviderConfig | undefined): string[] {
  return Object.values(config?.headers ?? {}).flatMap((value) => [value, value.replace(/^\w+ /, '')]);
}

/** The first of the provider's variables that is set; null if none is. */
function keyVariable({ key_env }: Pick<KnownProvider, 'key_env'>, env: Environment): string | null {
  return key_env.find((variable) => (env[variable]?.trim() ?? '') !== '') ?? null;
}

function keyOf({ name, key_env }: KnownProvider, env: Environment): string | null {
  if (key_env.length === 0) return null;
  const variable = keyVariable({ key_env }, env);
  const key = env[variable ?? '']?.trim() ?? null;
  // It could not be sent: a header holds none of these.
  if (key !== null && /[^ -~]/.test(key)) {
    throw new CoppiceError('E_NO_KEY', `${variable} has a line break or a character that no key has`, {
      hint: 'Copy the key again: only letters, digits and signs of a keyboard',
    });
  }
  if (key !== null) return key;
  throw new CoppiceError('E_NO_KEY', `provider ${name} needs a key and ${key_env.join(' or ')} is not set`, {
    hint: `Set it: export ${key_env[0]}=…`,
  });
}

/** Environment variables name the host; the packages also need the path of the API version. */
const API_PATH: Readonly<Record<string, string>> = { anthropic: '/v1', google: '/v1beta', ollama: '/v1' };

function baseUrlOf(provider: KnownProvider, env: Environment): string | undefined {
  const { name, type, base_url, base_url_env } = provider;
  const named = base_url_env === undefined ? undefined : env[base_url_env]?.trim();
  if (named === undefined || named === '') return base_url && apiAddress(type, base_url);
  const host = name === 'ollama' ? ollamaHost(named) : named;
  const url = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(url)) {
    throw new CoppiceError('E_CONFIG', `${base_url_env} is not an address: ${named}`, {
      hint: `Set it like http://127.0.0.1:8080`,
    });
  }
  return apiAddress(type, url, API_PATH[name]);
}

/** Whether the server runs on this machine or network, where caching saves nothing or its effect is unknown. */
function isNear(base_url: string | undefined): boolean {
  if (base_url === undefined) return false;
  const host = new URL(base_url).hostname.replace(/^\[|\]$/g, '');
  // Names without a dot, such as those of containers, exist only on this network.
  return isIP(host) > 0 ? isPrivate(host) : /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}

/** Completes Ollama's own forms: a listen address without a scheme, possibly without a host or a port. */
function ollamaHost(named: string): string {
  if (/^https?:\/\//.test(named)) return named;
  const host = named.replace(/^(0\.0\.0\.0)?(?=:|\/|$)/, '127.0.0.1');
  return /^[^/]*:\d+/.test(host) ? host : host.replace(/^[^/]*/, '$&:11434');
}
