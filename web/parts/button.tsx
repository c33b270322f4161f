import type { ButtonHTMLAttributes } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'type' | 'children'> {
  readonly does: string | null;
}

/** A button that submits no form. `does`: its words. */
export function Button({ does, ...terms }: ButtonProps) {
  return (
    <button {...terms} type="button">
      {does}
    </button>
  );
}
