import { useEffect, useState } from 'preact/hooks';
import type { seldom } from '../seldom.ts';
import type { PageContext } from './page.ts';

type Pages = typeof seldom;

let loaded: Pages | null = null;

/** A page whose script is loaded when it is first asked for. */
export function SeldomPage({ name, context }: { readonly name: keyof Pages; readonly context: PageContext }) {
  const [pages, setPages] = useState(loaded);
  const [fails, setFails] = useState(false);
  useEffect(() => {
    if (pages !== null) return;
    import('../seldom.ts').then(
      (script) => {
        loaded = script.seldom;
        setPages(loaded);
      },
      () => setFails(true),
    );
  }, [pages]);
  if (pages === null)
    return fails ? (
      <p class="trouble" role="alert">
        This page could not be loaded. The server may be another one by now: load it again.
      </p>
    ) : (
      <p class="empty">Loading…</p>
    );
  const View = pages[name];
  return <View {...context} />;
}
