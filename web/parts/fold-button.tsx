import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { Button } from './button.tsx';

/** Whether everything within is shown: a search has found something there. */
export const Revealed = createContext(false);

/** Lines beyond those that are shown of something folded, for which a button is not worth it. */
const SPARE = 5;

/** How many of many lines are shown, and the button for the rest, if there is any. */
export function useFold(total: number, shown: number, what = 'lines') {
  const [unfolded, setWhole] = useState(false);
  const whole = useContext(Revealed) || unfolded;
  const folds = total > shown + SPARE;
  const button = folds && (
    <FoldButton open={whole} onToggle={setWhole} more={`${total - shown} more ${what}`} />
  );
  return { until: folds && !whole ? shown : total, button };
}

interface FoldButtonProps {
  readonly open: boolean;
  /** What it says while the rest is hidden. */
  readonly more: string;
  readonly onToggle: (open: boolean) => void;
}

/** Shows the rest of something long, and hides it again. */
export function FoldButton({ open, more, onToggle }: FoldButtonProps) {
  return (
    <Button does={open ? 'Fold' : more} class="fold" aria-expanded={open} onClick={() => onToggle(!open)} />
  );
}
