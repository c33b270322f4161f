import type { ApiError } from '../data/api.ts';

/** Error message, shown above content that was loaded before. */
export function Trouble({ error }: { readonly error: ApiError | null }) {
  if (error === null) return null;
  return (
    <p class="trouble" role="alert">
      {error.message}
      {error.hint !== null && <span class="hint"> {error.hint}</span>}
    </p>
  );
}

/** Placeholder for a list that is loading or empty. */
export function Nothing({ data, error, text }: { data: unknown; error: ApiError | null; text: string }) {
  if (data === null) return error === null ? <p class="empty">Loading…</p> : null;
  return <p class="empty">{text}</p>;
}
