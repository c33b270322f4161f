import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ApiError, useApi } from '../data/api.ts';
import { go, type Route, useRoute } from '../data/route.ts';
import { TreesView } from '../views/trees.tsx';
import { UsageView } from '../views/usage.tsx';

interface Page {
  readonly key: string;
  readonly path: string;
  readonly title: string;
  readonly view: (route: Route) => ComponentChildren;
}

/** The pages, each with the key that opens it after `g`. */
const PAGES: readonly Page[] = [
  { key: 't', path: 'trees', title: 'Trees', view: () => <TreesView /> },
  { key: 'u', path: 'usage', title: 'Usage', view: (route) => <UsageView route={route} /> },
];

/** Everything around a page: navigation, keys, sign-in. */
export function Shell() {
  const route = useRoute();
  const [name = 'trees'] = route.path;
  const page = PAGES.find(({ path }) => path === name);
  const session = useApi<{ readonly scope: 'read' | 'write'; readonly version: string }>('/v1/session');
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · Coppice`;
  }, [page]);
  usePageKeys();
  if (session.error?.code === 'E_UNAUTHORIZED') return <SignIn />;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          coppice
        </a>
        <nav aria-label="Pages">
          {PAGES.map(({ path, title, key }) => (
            <a
              key={path}
              href={`/${path}`}
              aria-current={path === name ? 'page' : undefined}
              title={`g ${key}`}
            >
              {title}
            </a>
          ))}
        </nav>
        {session.data?.scope === 'read' && <span class="badge">read-only</span>}
      </header>
      <main id="content" tabIndex={-1}>
        {page === undefined ? <p class="empty">There is no such page.</p> : page.view(route)}
      </main>
    </>
  );
}

/** `g` and then the key of a page goes there, unless a field has the keys. */
function usePageKeys(): void {
  useEffect(() => {
    let after_g = false;
    const press = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey || (target as Element | null)?.closest?.('input, textarea, select'))
        return;
      const page = after_g ? PAGES.find((one) => one.key === key) : undefined;
      after_g = key === 'g';
      if (page !== undefined) go(`/${page.path}`);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

function SignIn() {
  return (
    <main class="sign-in">
      <h1>coppice</h1>
      <p>
        This browser is not signed in. In a terminal on the machine of the server, run{' '}
        <code>coppice web</code> and open the link that it prints.
      </p>
    </main>
  );
}

/** What went wrong, above what is still there. */
export function Trouble({ error }: { readonly error: ApiError | null }) {
  if (error === null) return null;
  return (
    <p class="trouble" role="alert">
      {error.message}
      {error.hint !== null && <span class="hint"> {error.hint}</span>}
    </p>
  );
}
