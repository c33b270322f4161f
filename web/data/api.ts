import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { EXPORTED, exportedAnswer } from './exported.ts';
import { onChange } from './live.ts';

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

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One request to the HTTP API; `key` makes it repeatable. Rejects with an `ApiError`. */
export async function request<Answer>(
  method: Method,
  path: string,
  body?: object,
  key?: string,
): Promise<Answer> {
  if (EXPORTED !== null) {
    const answer = method === 'GET' ? exportedAnswer(EXPORTED, path) : undefined;
    if (answer !== undefined) return answer as Answer;
    throw new ApiError('E_NO_SUCH_PATH', 'this is not in the exported file');
  }
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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

/** What no event tells of is asked for less often, by this factor. */
const QUIET = 10;

/** What the API answers at `path`, again at most every `every_ms` when something has happened and the page is visible, and when `version` changes; `path` null: nothing yet. */
export function useApi<Answer>(path: string | null, every_ms = 0, version = 0): Loaded<Answer> {
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
    let loaded_at = Date.now();
    void load();
    if (every_ms === 0) return;
    let due: ReturnType<typeof setTimeout> | null = null;
    const later = () => {
      due ??= setTimeout(
        () => {
          due = null;
          if (document.visibilityState !== 'visible') return;
          loaded_at = Date.now();
          void load();
        },
        loaded_at + every_ms - Date.now(),
      );
    };
    const stop = onChange(later);
    const timer = setInterval(later, every_ms * QUIET);
    document.addEventListener('visibilitychange', later);
    return () => {
      stop();
      clearInterval(timer);
      if (due !== null) clearTimeout(due);
      document.removeEventListener('visibilitychange', later);
    };
  }, [load, every_ms, version]);
  return { data: state.path === path ? state.data : null, error: state.error, reload: () => void load() };
}

export interface Sending {
  readonly busy: boolean;
  readonly error: ApiError | null;
  /** Resolves to the answer; to null after an error, which `error` then holds. */
  readonly send: <Answer>(method: Method, path: string, body?: object) => Promise<Answer | null>;
  readonly forget: () => void;
}

/** What a person changes. The same request after a failure has the same `Idempotency-Key`, so that a lost answer repeats nothing. */
export function useSending(): Sending {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null });
  const failed = useRef<{ text: string; key: string } | null>(null);
  const send = useCallback(async <Answer>(method: Method, path: string, body: object = {}) => {
    setState({ busy: true, error: null });
    const text = JSON.stringify([method, path, body]);
    const key = failed.current?.text === text ? failed.current.key : newKey();
    try {
      const answer = await request<Answer>(method, path, method === 'DELETE' ? undefined : body, key);
      failed.current = null;
      setState({ busy: false, error: null });
      return answer;
    } catch (error) {
      failed.current = { text, key };
      setState({ busy: false, error: error as ApiError });
      return null;
    }
  }, []);
  const forget = useCallback(() => setState((state) => ({ ...state, error: null })), []);
  return { ...state, send, forget };
}

/** `crypto.randomUUID` is missing where the page came over plain HTTP from another machine. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');
}
