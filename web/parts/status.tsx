/** The sign of a state; its word always stands beside it, so that colour alone says nothing. */
const SIGNS: Readonly<Record<string, string>> = {
  running: '◐',
  waiting: '◔',
  queued: '◌',
  idle: '○',
  done: '✓',
  completed: '✓',
  delivered: '✓',
  error: '✗',
  failed: '✗',
  dead: '✗',
  cancelled: '✗',
  timeout: '✗',
  unled: '!',
  works: '◐',
  draining: '◔',
  gone: '✗',
  enabled: '✓',
  disabled: '○',
  fired: '✓',
  skipped: '·',
  pending: '◌',
  open: '○',
  blocked: '◌',
  claimed: '◐',
  ok: '✓',
  denied: '✗',
  interrupted: '✗',
};

export function Status({ word }: { readonly word: string }) {
  return (
    <span class={`status ${word}`}>
      <span aria-hidden="true">{SIGNS[word] ?? '·'}</span> {word}
    </span>
  );
}

/** The sign alone, where there is no room; its word is read aloud and shown on hovering. */
export function StatusSign({ word }: { readonly word: string }) {
  return (
    <span class={`status ${word}`} role="img" aria-label={word} title={word}>
      {SIGNS[word] ?? '·'}
    </span>
  );
}
