import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, request } from './api.ts';

const PAGE = 100;
/** Debounce, so that items that are scrolled past are not loaded. */
const SETTLE_MS = 60;

export interface Pages<Item, Page> {
  /** Item at an index from 0; undefined until it is loaded. */
  readonly at: (index: number) => Item | undefined;
  /** Reports which indexes are in view; `to` is exclusive. */
  readonly need: (from: number, to: number) => void;
  /** Page that was loaded last, for its fields other than items. */
  readonly newest: Page | null;
  readonly error: ApiError | null;
}

/**
 * A long list of `count` items, loaded in pages as they come into view. Items never change unless `version` does (old items stay
 * until the new ones are loaded); items may be appended.
 */
export function usePages<Item, Page extends { readonly messages: readonly Item[] }>(
  path: string,
  count: number,
  version = '',
): Pages<Item, Page> {
  const pages = useRef(new Map<number, { readonly version: string; readonly items: readonly Item[] }>());
  const view = useRef({ from: 0, to: 0, timer: 0, version });
  const [state, setState] = useState<{ newest: Page | null; error: ApiError | null }>({
    newest: null,
    error: null,
  });
  view.current.version = version;
  const load = useCallback(async () => {
    const { from, to } = view.current;
    for (let page = Math.floor(from / PAGE); page * PAGE < Math.min(to, count); page += 1) {
      const old = pages.current.get(page);
      const there = old?.version === version ? old.items.length : 0;
      if (there === PAGE || page * PAGE + there >= count) continue;
      try {
        const newest = await request<Page>('GET', `${path}?after=${page * PAGE}&limit=${PAGE}`);
        if (view.current.version !== version) return;
        pages.current.set(page, { version, items: newest.messages });
        setState({ newest, error: null });
      } catch (error) {
        setState((state) => ({ ...state, error: error as ApiError }));
        return;
      }
    }
  }, [path, count, version]);
  const need = useCallback(
    (from: number, to: number) => {
      const now = view.current;
      now.from = from;
      now.to = to;
      clearTimeout(now.timer);
      now.timer = window.setTimeout(load, SETTLE_MS);
    },
    [load],
  );
  useEffect(() => () => clearTimeout(view.current.timer), []);
  const at = (index: number) => pages.current.get(Math.floor(index / PAGE))?.items[index % PAGE];
  return { at, need, ...state };
}
