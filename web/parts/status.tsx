/** Sign of each status. Its word is always shown or read with it, so that nothing depends on colour alone. */
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

/** The sign alone, where space is short; the word is its label for screen readers and its tooltip. */
export function StatusSign({ word }: { readonly word: string }) {
  return (
    <span class={`status ${word}`} role="img" aria-label={word} title={word}>
      {SIGNS[word] ?? '·'}
    </span>
  );
}
