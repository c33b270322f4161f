import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProcess } from '../server-process.ts';

const APPROVALS_MS = 2_000;

/**
 * Sends the requests of the page of a tree, at the same times, but renders nothing: a browser takes cores and caches from the server that is measured.
 * Resolves to a function that ends it.
 */
export async function followTree(server: ServerProcess, root_id: string): Promise<() => Promise<void>> {
  const ended = new AbortController();
  const { signal } = ended;
  const authorization = `Bearer ${server.token}`;
  let known = '';
  let again_at = Number.POSITIVE_INFINITY;
  let loads = false;
  let missed = false;
  let approvals_at = 0;
  const get = (path: string, headers = {}) =>
    fetch(`${server.url}${path}`, { headers: { authorization, ...headers }, signal });
  const refresh = async () => {
    missed = loads;
    if (loads) return;
    loads = true;
    again_at = Number.POSITIVE_INFINITY;
    const path = `/v1/trees/${root_id}/timeline`;
    const answer = await (known === ''
      ? get(path)
      : get(`${path}?after=${known}`, { 'cache-control': 'max-stale' }));
    if (answer.status === 204) {
      again_at = performance.now() + Number(answer.headers.get('retry-after')) * 1_000;
    } else {
      known = ((await answer.json()) as { readonly after: string }).after;
    }
    loads = false;
    if (missed) await refresh();
  };
  const happened = async () => {
    const now = performance.now();
    await refresh();
    if (now - approvals_at < APPROVALS_MS) return;
    approvals_at = now;
    await (await get('/v1/approvals')).json();
  };
  const follow = async () => {
    const { body } = await get('/v1/events?brief=true');
    for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()))
      if (piece.includes('event:')) void happened().catch(() => undefined);
  };
  const keepTime = async () => {
    for (;;) {
      await pause(50, undefined, { signal });
      if (performance.now() >= again_at) await refresh();
    }
  };
  await refresh();
  const work = Promise.all([follow(), keepTime()]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return async () => {
    ended.abort();
    await work;
  };
}
