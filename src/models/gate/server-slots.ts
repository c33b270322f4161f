import { isJsonObject, parsedObject } from '../../records/text/json-text.ts';
import { getText } from '../provider/http-fetch.ts';
import { splitQuery } from '../provider/provider-config.ts';

const TIMEOUT_MS = 2_000;

/**
 * How a server of this machine or network takes requests: as many at once as llama.cpp states, `queues` for Ollama, null if it says nothing. Never
 * rejects. `key`: sent like that of its requests.
 */
export async function serverSlots(base_url: string, key: string | null): Promise<number | 'queues' | null> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const root = splitQuery(base_url).base.replace(/\/v1$/, '');
  const get = async (path: string) => {
    const patience = { signal: AbortSignal.timeout(TIMEOUT_MS), idle_ms: TIMEOUT_MS };
    const answer = await getText(`${root}${path}`, headers, patience).catch(() => null);
    return answer?.status === 200 ? parsedObject(answer.text) : null;
  };
  const props = await get('/props');
  const slots = isJsonObject(props) ? props.total_slots : null;
  if (typeof slots === 'number' && Number.isInteger(slots) && slots > 0) return slots;
  const version = await get('/api/version');
  return typeof version?.version === 'string' ? 'queues' : null;
}
