import type { ComponentChildren } from 'preact';

interface HeadsProps {
  readonly names: readonly string[];
  /** Those over numbers. */
  readonly numbers?: readonly string[];
}

/** The head of a table. */
export function Heads({ names, numbers = [] }: HeadsProps) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col" class={numbers.includes(name) ? 'number' : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface AmountProps {
  /** What it is, in a word that a phone shows before it, where a table has no head. */
  readonly is: string;
  readonly children: ComponentChildren;
}

/** A cell with a number. */
export function Amount({ is, children }: AmountProps) {
  return (
    <td class="number" data-is={is}>
      {children}
    </td>
  );
}

/** A fact by its name, in a list of them. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt> <dd>{children}</dd>
    </div>
  );
}

interface TableProps extends HeadsProps {
  /** Said to those who do not see what the table is of. */
  readonly caption?: string;
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways where it is wider than its page; its children are its rows. */
export function Table({ caption, children, ...heads }: TableProps) {
  return (
    <div class="wide">
      <table>
        {caption !== undefined && <caption class="hidden">{caption}</caption>}
        <Heads {...heads} />
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
