import type { ComponentChildren } from 'preact';
import { useKeys } from '../data/keys.ts';

export interface Action {
  readonly key: string;
  readonly what: string;
  readonly act: () => unknown;
}

interface ButtonsProps {
  readonly actions: readonly Action[];
  readonly busy: boolean;
  readonly children?: ComponentChildren;
}

/** What a person can do here, each by a button and by a key; `x` kills or stops. */
export function ActionButtons({ actions, busy, children }: ButtonsProps) {
  useKeys(actions.map((one) => ({ ...one, act: () => void one.act() })));
  return (
    <div class="buttons">
      {actions.map(({ key, what, act }) => (
        <button
          key={key}
          type="button"
          title={key}
          class={key === 'x' ? 'danger' : undefined}
          disabled={busy}
          onClick={() => void act()}
        >
          {what}
        </button>
      ))}
      {children}
    </div>
  );
}
