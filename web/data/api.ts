import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** An error document of the server, or of the way to it. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, hint: string | null = null) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** One request to the HTTP API; rejects with an `ApiError`. */
export async function request<Answer>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => {
    throw new ApiError('E_SERVER', 'the server does not answer', 'Is coppice serve running?');
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as Answer;
  const {
    code = 'E_SERVER',
    message = `the server answered ${response.status}`,
    hint = null,
  } = (answer as { error?: { code?: string; message?: string; hint?: string | null } } | null)?.error ?? {};
  throw new ApiError(code, message, hint);
}

export interface Loaded<Answer> {
  readonly data: Answer | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
}

/** What the API answers at `path`, again every `every_ms` while the page is visible; `path` null: nothing yet. */
export function useApi<Answer>(path: string | null, every_ms = 0): Loaded<Answer> {
  const [state, setState] = useState<{ path: string | null; data: Answer | null; error: ApiError | null }>({
    path: null,
    data: null,
    error: null,
  });
  const newest = useRef(0);
  const load = useCallback(async () => {
    if (path === null) return;
    newest.current += 1;
    const mine = newest.current;
    try {
      const data = await request<Answer>('GET', path);
      if (mine === newest.current) setState({ path, data, error: null });
    } catch (error) {
      if (mine === newest.current)
        setState((before) => ({
          path,
          data: before.path === path ? before.data : null,
          error: error as ApiError,
        }));
    }
  }, [path]);
  useEffect(() => {
    void load();
    if (every_ms === 0) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void load();
    }, every_ms);
    return () => clearInterval(timer);
  }, [load, every_ms]);
  return { data: state.path === path ? state.data : null, error: state.error, reload: () => void load() };
}
