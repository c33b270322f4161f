import { createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';

/** A key of the page in view: `key` as in `KeyboardEvent.key`. */
export interface KeyBinding {
  readonly key: string;
  readonly what: string;
  readonly act: () => void;
}

/** Keys of all parts of the page in view, as `?` lists them. */
export const Keys = createContext<Set<readonly Omit<KeyBinding, 'act'>[]>>(new Set());

/** Lists keys that a part handles itself while it has the focus. */
export function useListedKeys(bindings: readonly Omit<KeyBinding, 'act'>[]): void {
  const all = useContext(Keys);
  useEffect(() => {
    all.add(bindings);
    return () => {
      all.delete(bindings);
    };
  }, [all, bindings]);
}

/** Handles keys without modifiers, unless a field or dialog has the focus. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const all = useContext(Keys);
  const newest = useRef(bindings);
  newest.current = bindings;
  useEffect(() => {
    all.add(bindings);
    const press = (event: KeyboardEvent) => {
      const found = isFree(event) ? newest.current.find(({ key }) => key === event.key) : undefined;
      if (found === undefined) return;
      event.preventDefault();
      found.act();
    };
    window.addEventListener('keydown', press);
    return () => {
      all.delete(bindings);
      window.removeEventListener('keydown', press);
    };
  }, [all, bindings.map(({ key }) => key).join(' ')]);
}

/** Whether a key is a command, not text for a field or a dialog. */
export function isFree({ ctrlKey, metaKey, altKey, defaultPrevented, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || defaultPrevented) return false;
  return (target as Element | null)?.closest?.('input, textarea, select, dialog') == null;
}

/** Moves the focus to the next or the previous row (`data-row`) of the page, or to the first one in view if no row has it. */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const row = now < 0 ? rows.find(isInView) : rows[now + step];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

function isInView(row: HTMLElement): boolean {
  const { bottom } = row.getBoundingClientRect();
  return bottom > 0;
}
