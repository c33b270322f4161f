import { type OpenModelOptions, reachOf } from '../providers.ts';
import { ConnectionError, type HttpText } from './http-fetch.ts';
import { askForModels, USUAL_ADDRESS } from './model-list.ts';

export interface KeyProbe {
  /** False if a model request would fail, too. */
  readonly ok: boolean;
  readonly text: string;
}

const TIMEOUT_MS = 4_000;
/**
 * Requests a provider's list of models, which is free, to check that it is reachable and accepts the key. Never shows a key. Throws like `openModel` for
 * an unknown provider or a missing key.
 */
export async function probeKey(
  provider: string,
  options: Pick<OpenModelOptions, 'providers' | 'env'>,
): Promise<KeyProbe> {
  const { type, key, base_url = USUAL_ADDRESS[type], headers } = reachOf(provider, options);
  if (base_url === undefined) return { ok: false, text: `no address: set providers.${provider}.baseURL` };
  const { host } = new URL(base_url);
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await askForModels({ type, base_url, key, headers, signal, idle_ms: TIMEOUT_MS });
    if (answer.status === 401 || (type === 'google' && isBadKey(answer)))
      return { ok: false, text: `${host} refuses the key` };
    const lists = answer.status >= 200 && answer.status < 300;
    if (lists && answer.type === 'text/html')
      return {
        ok: true,
        text: `${host} answers with a web page instead of its models, so the key was not tried: is providers.${provider}.baseURL the address of its API?`,
      };
    if (lists) return { ok: true, text: `${host} answers` };
    const path = new URL(base_url).pathname === '/' ? `; most servers have their API below /v1` : '';
    return { ok: true, text: `${host} lists no models (${answer.status}): the key was not tried${path}` };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    const is_silent =
      error instanceof ConnectionError ? error.reason === 'idle' : (error as Error).name === 'TimeoutError';
    const why = is_silent ? `no answer within ${TIMEOUT_MS / 1000} s` : (code ?? 'no connection');
    const [advice = ''] = /;.*/s.exec((error as Error).message) ?? [];
    return { ok: false, text: `${host} cannot be reached (${why})${advice}` };
  }
}

/** Google answers an invalid key with 400. */
function isBadKey({ status, text }: HttpText): boolean {
  return status === 400 && /API_KEY_INVALID|API key not valid/.test(text);
}
