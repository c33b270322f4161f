import { type ComponentProps, type FunctionComponent, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { seldom } from '../seldom.ts';

type SeldomParts = typeof seldom;

let loaded: SeldomParts | null = null;

/** Loads the script once; when the first page has been shown, too, so that what is asked for opens at once, and also if the server is gone by then. */
export async function loadSeldom(): Promise<SeldomParts> {
  loaded ??= (await import('../seldom.ts')).seldom;
  return loaded;
}

/** A page, or a part of one, whose script is loaded when it is first asked for. */
export function Seldom<Name extends keyof SeldomParts>({
  part,
  ...props
}: { readonly part: Name } & ComponentProps<SeldomParts[Name]>) {
  const [parts, setParts] = useState(loaded);
  const [fails, setFails] = useState(false);
  useEffect(() => {
    if (parts !== null) return;
    loadSeldom().then(setParts, () => setFails(true));
  }, [parts]);
  if (parts !== null) return h(parts[part] as FunctionComponent<object>, props);
  return fails ? (
    <p class="trouble" role="alert">
      This could not be loaded. The server may be another one by now: load the page again.
    </p>
  ) : (
    <p class="empty">Loading…</p>
  );
}
