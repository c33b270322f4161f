import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { EXPORTED } from './exported.ts';

/** The page that a path names: `/trees/ID?tab=messages` → `['trees', 'ID']` and the query. */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** Path and query as one. */
  readonly address: string;
}

function current(): Route {
  const address = addressNow();
  const { pathname, searchParams } = new URL(address, 'http://dashboard');
  const path = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  const first = EXPORTED !== null && path[1] === undefined ? ['trees', EXPORTED.root_id] : path;
  return { path: first, query: searchParams, address };
}

/** What stands before every path: in an exported page a `#`, else the path below which a proxy serves this server, which the address of its script tells. */
const BEFORE = EXPORTED === null ? new URL('..', import.meta.url).pathname.slice(0, -1) : '#';

/** Path and query of the page that is shown; in an exported page they follow the `#`. */
export function addressNow(): string {
  const { pathname, search, hash } = window.location;
  return (EXPORTED === null ? pathname + search : hash).slice(BEFORE.length) || '/';
}

/** Converts a path of the server to a URL for the browser. */
export function placeOf(href: string): string {
  return BEFORE + href;
}

/** Makes links point to where the dashboard is: below the path of a proxy, or in its own file, so that they also work in another tab. */
export function placeLinks(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const { href } = vnode.props as { href?: unknown };
    if (vnode.type === 'a' && typeof href === 'string' && href.startsWith('/'))
      Object.assign(vnode.props, { href: placeOf(href) });
    before?.(vnode);
  };
}

/** Has an address written that was put off, as before it is copied or left. */
export function settleAddress(): void {
  window.dispatchEvent(new Event('settle-address'));
}

/** Opens a page of the dashboard by its permanent link. */
export function go(href: string, { replace = false } = {}): void {
  settleAddress();
  window.history[replace ? 'replaceState' : 'pushState'](null, '', placeOf(href));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The current page; follows links within the dashboard without loading it again. */
export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const follow = () => setRoute(current());
    const click = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.('a');
      if (link === null || link === undefined || event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || link.target !== '') return;
      // In an exported page the browser follows links itself, because only the fragment differs.
      if (EXPORTED !== null) return settleAddress();
      if (link.hasAttribute('download')) return;
      if (!link.href.startsWith(`${window.location.origin}${BEFORE}/`)) return;
      event.preventDefault();
      go(link.href.slice(window.location.origin.length + BEFORE.length));
    };
    window.addEventListener('popstate', follow);
    document.addEventListener('click', click);
    return () => {
      window.removeEventListener('popstate', follow);
      document.removeEventListener('click', click);
    };
  }, []);
  return route;
}
