import { useEffect, useState } from 'preact/hooks';
import { EXPORTED } from './exported.ts';

/** The page that a path names: `/trees/ID?tab=messages` → `['trees', 'ID']` and the query. */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function current(): Route {
  // An exported page has its pages behind a fragment.
  const { pathname, search } =
    EXPORTED === null ? window.location : new URL(window.location.hash.slice(1) || '/', 'http://exported');
  return {
    path: pathname.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(search),
  };
}

/** Goes to a page of the dashboard; each has a permanent link. */
export function go(href: string, { replace = false } = {}): void {
  const place = EXPORTED === null ? href : `#${href}`;
  window.history[replace ? 'replaceState' : 'pushState'](null, '', place);
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
      const href = EXPORTED === null ? link.href : (link.getAttribute('href') ?? '');
      const is_page = EXPORTED === null ? link.origin === window.location.origin : href.startsWith('/');
      if (!is_page || link.hasAttribute('download')) return;
      event.preventDefault();
      go(href);
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
