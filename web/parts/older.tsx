import { useState } from 'preact/hooks';
import { type ApiError, request } from '../data/api.ts';
import { Button } from './button.tsx';
import { Trouble } from './trouble.tsx';

interface OlderRows<Row> {
  readonly rows: readonly Row[];
  /** Whether there may be more than these and the newest. */
  readonly more: boolean;
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly load: () => void;
}

/** Pages of a list behind its newest rows, `limit` each, as a person asks for them. */
export function useOlder<Page, Row>(
  newest: readonly Row[],
  pathBehind: (last: Row) => string,
  rowsOf: (page: Page) => readonly Row[],
  limit: number,
): OlderRows<Row> {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [end, setEnd] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const last = rows.at(-1) ?? newest.at(-1);
  const load = async () => {
    if (last === undefined) return;
    setBusy(true);
    try {
      const page = rowsOf(await request<Page>('GET', pathBehind(last)));
      setRows([...rows, ...page]);
      setEnd(page.length < limit);
      setError(null);
    } catch (failure) {
      setError(failure as ApiError);
    }
    setBusy(false);
  };
  return { rows, more: newest.length >= limit && !end, busy, error, load: () => void load() };
}

/** The button for the next page, and why it did not come. */
export function Older({ of, does }: { readonly of: OlderRows<unknown>; readonly does: string }) {
  return (
    <>
      {of.more && (
        <p class="empty">
          <Button does={does} disabled={of.busy} onClick={of.load} />
        </p>
      )}
      <Trouble error={of.error} />
    </>
  );
}
