import { useLayoutEffect, useState } from 'preact/hooks';
import { store, stored } from '../data/storage.ts';
import { Icon } from './icon.tsx';

const STORED = 'coppice-density';

/** Switches between comfortable and compact rows; this browser remembers which. */
export function DensityButton() {
  const [compact, setCompact] = useState(() => stored(STORED) === 'compact');
  useLayoutEffect(() => {
    document.documentElement.classList.toggle('compact', compact);
    store(STORED, compact ? 'compact' : 'comfortable');
  }, [compact]);
  return (
    <button type="button" class="quiet" aria-pressed={compact} onClick={() => setCompact(!compact)}>
      <Icon name="dense" /> <span class="label">Compact</span>
    </button>
  );
}
