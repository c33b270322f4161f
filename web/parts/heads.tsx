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
