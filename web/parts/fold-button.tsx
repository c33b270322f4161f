import { createContext } from 'preact';
import { Button } from './button.tsx';

/** Whether everything within is shown: a search has found something there. */
export const Revealed = createContext(false);

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
