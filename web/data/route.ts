import { useEffect, useState } from 'preact/hooks';

/** The page that a path names: `/trees/ID?tab=messages` → `['trees', 'ID']` and the query. */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function current(): Route {
  const { pathname, search } = window.location;
  return {
    path: pathname.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(search),
  };
}

/** Goes to a page of the dashboard; each has a permanent link. */
export function go(href: string, { replace = false } = {}): void {
  window.history[replace ? 'replaceState' : 'pushState'](null, '', href);
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
      if (link.origin !== window.location.origin || link.hasAttribute('download')) return;
      event.preventDefault();
      go(link.href);
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
