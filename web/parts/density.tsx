import { useLayoutEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const STORED = 'coppice-density';

/** Switches between comfortable and compact rows; this browser remembers which. */
export function DensityButton() {
  const [compact, setCompact] = useState(stored);
  useLayoutEffect(() => {
    document.documentElement.classList.toggle('compact', compact);
    try {
      window.localStorage.setItem(STORED, compact ? 'compact' : 'comfortable');
    } catch {
      // There is no storage, or it is full: the choice lasts as long as the page.
    }
  }, [compact]);
  return (
    <button type="button" class="quiet" aria-pressed={compact} onClick={() => setCompact(!compact)}>
      <Icon name="dense" /> <span class="label">Compact</span>
    </button>
  );
}

function stored(): boolean {
  try {
    return window.localStorage.getItem(STORED) === 'compact';
  } catch {
    return false;
  }
}
