import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { EXPORTED, exportedAnswer } from './exported.ts';
import { refreshing } from './refreshing.ts';
import { ask } from './session.ts';

/** An error document of the server, or a failure to reach it. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string | null;
  /** Whether the page asked for what it shows, and not a person for a change. */
  readonly reads: boolean;

  constructor(code: string, message: string, hint: string | null = null, reads = false) {
    super(message);
    this.reads = reads;
    this.code = code;
    this.hint = hint;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Sends one request to the HTTP API; `key` makes it idempotent. Rejects with an `ApiError`. */
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
  const response = await ask(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(unreachable);
  return answerOf(response, method === 'GET');
}

/** Reloads what a page shows. Resolves to the milliseconds after which to retry if the server is busy with its agents. */
export async function refresh<Answer>(path: string): Promise<Answer | number> {
  const response = await ask(path, { headers: { 'cache-control': 'max-stale' } }).catch(unreachable);
  if (response.status === 204) return Number(response.headers.get('retry-after')) * 1_000;
  return answerOf(response, true);
}

/** Saves what the server answers as a file under the name that it gives. Rejects with an `ApiError`. */
export async function download(path: string): Promise<void> {
  const response = await ask(path).catch(unreachable);
  if (!response.ok) return answerOf(response, false);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob().catch(unreachable));
  link.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? '';
  link.click();
  URL.revokeObjectURL(link.href);
}

async function answerOf<Answer>(response: Response, reads: boolean): Promise<Answer> {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as Answer;
  const {
    code = 'E_SERVER',
    message = `the server answered ${response.status}`,
    hint = null,
  } = (answer as { error?: { code?: string; message?: string; hint?: string | null } } | null)?.error ?? {};
  throw new ApiError(code, message, hint, reads);
}

function unreachable(): never {
  throw new ApiError('E_SERVER', 'the server does not answer', 'Is coppice serve running?');
}

export interface Loaded<Answer> {
  readonly data: Answer | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
}

interface State<Answer> {
  readonly path: string | null;
  readonly data: Answer | null;
  readonly error: ApiError | null;
}

/** Reloads without an event are this many times less frequent. */
const QUIET = 10;

/**
 * Loads `path` (null: nothing yet), again when `version` changes, and again after changes in the ledger while the page is visible, at most every `every_ms`
 * (0: never).
 */
export function useApi<Answer>(path: string | null, every_ms = 0, version = 0): Loaded<Answer> {
  const [state, setState] = useState<State<Answer>>({ path: null, data: null, error: null });
  const asked = useRef(0);
  const shown = useRef(0);
  const load = useCallback(
    async (again = false) => {
      if (path === null) return 0;
      asked.current += 1;
      const mine = asked.current;
      const show = (next: (before: State<Answer>) => State<Answer>) => {
        if (mine < shown.current) return;
        shown.current = mine;
        setState(next);
      };
      try {
        const data = await (again ? refresh<Answer>(path) : request<Answer>('GET', path));
        if (typeof data === 'number') return data;
        show(() => ({ path, data, error: null }));
      } catch (error) {
        show((before) => ({
          path,
          data: before.path === path ? before.data : null,
          error: error as ApiError,
        }));
      }
      return 0;
    },
    [path],
  );
  useEffect(() => {
    if (every_ms === 0) return void load();
    return refreshing({ load, every_ms, quiet_ms: every_ms * QUIET });
  }, [load, every_ms, version]);
  return { data: state.path === path ? state.data : null, error: state.error, reload: () => void load() };
}

/** What a change would do: what the server answers to it with `dry_run`, again whenever it is another change. */
export function usePlan<Answer>(path: string, change: object): Pick<Loaded<Answer>, 'data' | 'error'> {
  const [plan, setPlan] = useState<Pick<Loaded<Answer>, 'data' | 'error'>>({ data: null, error: null });
  const text = JSON.stringify({ ...change, dry_run: true });
  useEffect(() => {
    let left = false;
    request<Answer>('POST', path, JSON.parse(text) as object).then(
      (data) => !left && setPlan({ data, error: null }),
      (error) => !left && setPlan({ data: null, error }),
    );
    return () => {
      left = true;
    };
  }, [path, text]);
  return plan;
}

export interface Sending {
  readonly busy: boolean;
  readonly error: ApiError | null;
  /** Resolves to the answer; to null after an error, which `error` then holds, and at once while the same request is under way. */
  readonly send: <Answer>(method: Method, path: string, body?: object) => Promise<Answer | null>;
  readonly forget: () => void;
}

/** Sends a person's changes. A retry after a failure has the same `Idempotency-Key`, so that a lost answer causes no duplicate. `onError` hears of an error that comes when the page shows it no longer, too. */
export function useSending(onError: (error: ApiError) => void = () => undefined): Sending {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null });
  const failed = useRef<{ text: string; key: string } | null>(null);
  // What is being sent. Not `busy`, which callers see only after the next rendering.
  const under_way = useRef(new Set<string>());
  const send = useCallback(async <Answer>(method: Method, path: string, body: object = {}) => {
    const text = JSON.stringify([method, path, body]);
    if (under_way.current.has(text)) return null;
    under_way.current.add(text);
    setState({ busy: true, error: null });
    const key = failed.current?.text === text ? failed.current.key : newKey();
    try {
      const answer = await request<Answer>(method, path, method === 'DELETE' ? undefined : body, key);
      failed.current = null;
      setState({ busy: false, error: null });
      return answer;
    } catch (error) {
      failed.current = { text, key };
      setState({ busy: false, error: error as ApiError });
      onError(error as ApiError);
      return null;
    } finally {
      under_way.current.delete(text);
    }
  }, []);
  const forget = useCallback(() => setState((state) => ({ ...state, error: null })), []);
  return { ...state, send, forget };
}

/** Random key; `crypto.randomUUID` is missing if the page was loaded over plain HTTP from another machine. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');
}
