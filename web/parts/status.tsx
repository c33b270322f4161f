import { nameOf, type Outcome, shownWord, UNSUCCESSFUL } from '../../src/records/run/outcome.ts';

/** Sign of each status. Its word is always shown or read with it, so that nothing depends on colour alone. */
export const SIGNS: Readonly<Record<string, string>> = {
  running: '◐',
  waiting: '◔',
  queued: '◌',
  idle: '○',
  rests: '○',
  done: '✓',
  completed: '✓',
  delivered: '✓',
  waiting_for_you: '!',
  cut_short: '!',
  declined: '✗',
  stopped: '✗',
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
      <span aria-hidden="true">{SIGNS[word] ?? '·'}</span> {nameOf(word)}
    </span>
  );
}

/** The status of an agent, a tree or a run, with its outcome where the status would hide it. */
export function Standing({ of }: { readonly of: Outcome & { readonly status: string } }) {
  return <Status word={shownWord(of.status, of.outcome, of.outcome_text)} />;
}

/** How it ended, where it did not end well. What a person ended has not failed. */
export function Ended({ of: { outcome, outcome_text } }: { readonly of: Outcome }) {
  if (!UNSUCCESSFUL.has(outcome)) return null;
  return <p class={outcome === 'stopped' ? 'dim' : 'trouble'}>{outcome_text}</p>;
}

/** The sign alone, where space is short; the word is its label for screen readers and its tooltip. */
export function StatusSign({ word }: { readonly word: string }) {
  return (
    <span class={`status ${word}`} role="img" aria-label={word} title={word}>
      {SIGNS[word] ?? '·'}
    </span>
  );
}
