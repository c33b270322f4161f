import type { ComponentChildren } from 'preact';
import type { ApiError } from '../data/api.ts';
import { Icon } from './icon.tsx';

/** Error message, shown above content that was loaded before. That nobody is signed in any more the frame of the page says, but for what a person did. */
export function Trouble({ error }: { readonly error: ApiError | null }) {
  const signed_out = error?.code === 'E_UNAUTHORIZED';
  if (error === null || (signed_out && error.reads)) return null;
  return (
    <p class="trouble" role="alert">
      {signed_out ? 'This browser is not signed in any more.' : error.message}
      {!signed_out && error.hint !== null && <span class="hint"> {error.hint}</span>}
    </p>
  );
}

/** Placeholder for a list that is loading or empty. */
export function Nothing({ data, error, text, children }: NothingProps) {
  if (data === null) return error === null ? <p class="empty">Loading…</p> : null;
  return (
    <div class="empty nothing">
      <Icon name="trees" />
      <p>{text}</p>
      {children}
    </div>
  );
}

interface NothingProps {
  readonly data: unknown;
  readonly error: ApiError | null;
  readonly text: string;
  /** What a person can do first. */
  readonly children?: ComponentChildren;
}
