import type { ComponentChildren } from 'preact';
import { useKeys } from '../data/keys.ts';
import { Button } from './button.tsx';

export interface Action {
  readonly key: string;
  readonly what: string;
  readonly act: () => unknown;
}

interface ButtonsProps {
  /** False: it cannot be done now. */
  readonly actions: readonly (Action | false)[];
  readonly busy: boolean;
  readonly children?: ComponentChildren;
}

/** What a person can do here, each by a button and by a key; `x` kills or stops. */
export function ActionButtons({ actions, busy, children }: ButtonsProps) {
  const possible = actions.filter((one) => one !== false);
  useKeys(possible.map((one) => ({ ...one, act: () => void one.act() })));
  return (
    <div class="buttons">
      {possible.map(({ key, what, act }) => (
        <Button
          does={what}
          key={key}
          title={key}
          class={key === 'x' ? 'danger' : undefined}
          disabled={busy}
          onClick={() => void act()}
        />
      ))}
      {children}
    </div>
  );
}
