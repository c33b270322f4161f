import { getText } from '../../../models/provider/http-fetch.ts';
import { type OpenModelOptions, reachOf } from '../../../models/providers.ts';
import { clean } from '../../../render/clean.ts';

/** A server that speaks the protocol of OpenAI's chat completions. */
export interface LocalServer {
  /** Name of its provider: its models are `NAME/MODEL`. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  readonly base_url: string;
}

export type Listing =
  | { readonly ok: true; readonly models: readonly string[] }
  /** `wants_key`: the server refused the request for lack of a valid key. */
  | { readonly ok: false; readonly wants_key: boolean; readonly error: string };

const TIMEOUT_MS = 2_000;
const MODELS_MAX = 2_000;

/** Returns the usual addresses of local servers; those of built-in providers may be set by variables. */
export function usualServers(options: Pick<OpenModelOptions, 'providers' | 'env'>): LocalServer[] {
  return [
    builtIn('ollama', 'Ollama', options),
    builtIn('lmstudio', 'LM Studio', options),
    { name: 'llamacpp', title: 'llama.cpp', base_url: 'http://127.0.0.1:8080/v1' },
    { name: 'vllm', title: 'vLLM', base_url: 'http://127.0.0.1:8000/v1' },
  ];
}

function builtIn(
  name: string,
  title: string,
  options: Pick<OpenModelOptions, 'providers' | 'env'>,
): LocalServer {
  return { name, title, base_url: reachOf(name, options).base_url ?? '' };
}

/** Asks a server for its models. Never rejects; a server of another kind is a failure. */
export async function listModels(
  base_url: string,
  { key = null, signal }: { readonly key?: string | null; readonly signal?: AbortSignal } = {},
): Promise<Listing> {
  const failed = (error: string, wants_key = false): Listing => ({ ok: false, wants_key, error });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const { status, text } = await getText(
      `${base_url.replace(/\/+$/, '')}/models`,
      key === null ? {} : { authorization: `Bearer ${key}` },
      {
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        idle_ms: TIMEOUT_MS,
      },
    );
    if (status === 401 || status === 403)
      return failed(key === null ? 'it wants a key' : 'it refuses the key', true);
    const models = modelsOf(text);
    return models === null ? failed(`it lists no models (${status})`) : { ok: true, models };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    const silent = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : 'no connection';
    return failed(`it cannot be reached (${code ?? silent})`);
  }
}

/** Null if the text is not a list of models. */
function modelsOf(text: string): string[] | null {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown };
    if (!Array.isArray(data)) return null;
    const ids = data.slice(0, MODELS_MAX).map((one: { readonly id?: unknown } | null) => one?.id);
    return ids.filter((id): id is string => typeof id === 'string' && id !== '' && clean(id) === id);
  } catch {
    return null;
  }
}
