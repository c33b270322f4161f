import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';

interface FindBarProps {
  readonly query: string;
  /** How many messages were found; null: nothing is searched for. */
  readonly total: number | null;
  /** Place of the one in view among them, from 0. */
  readonly place: number;
  readonly onQuery: (query: string) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onClose: () => void;
}

/** Finds in the conversation: Enter goes to the next message, Shift+Enter to the previous one, Escape closes. */
export function FindBar({ query, total, place, onQuery, onMove, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <search class="find" aria-label="Find in the conversation">
      <input
        ref={field}
        type="search"
        aria-label="Find in the conversation"
        placeholder="Find in the conversation"
        value={query}
        onInput={({ currentTarget }) => onQuery(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onMove(event.shiftKey ? -1 : 1);
          else if (event.key === 'Escape') onClose();
          else return;
          event.preventDefault();
        }}
      />
      <output aria-live="polite">
        {total === null ? '' : total === 0 ? 'nothing' : `${place + 1} of ${total}`}
      </output>
      <Button does="↑" aria-label="Previous" title="Shift+Enter" onClick={() => onMove(-1)} />
      <Button does="↓" aria-label="Next" title="Enter" onClick={() => onMove(1)} />
      <Button does="Close" class="quiet" title="Esc" onClick={onClose} />
    </search>
  );
}
