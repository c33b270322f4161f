import { askForModels, modelsIn } from '../../models/provider/model-list.ts';
import { type OpenModelOptions, reachOf } from '../../models/providers.ts';

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
    const { status, text } = await askForModels({
      ...{ type: 'openai-compatible', base_url, key, idle_ms: TIMEOUT_MS },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (status === 401 || status === 403)
      return failed(key === null ? 'it wants a key' : 'it refuses the key', true);
    const models = modelsIn(text);
    return models === null ? failed(`it lists no models (${status})`) : { ok: true, models };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    const silent = timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : 'no connection';
    return failed(`it cannot be reached (${code ?? silent})`);
  }
}
