/** Lines of each icon in a square of 16. */
const LINES = {
  trees: 'M8 15V8M8 8L3 3M8 8l5-5M8 8V2',
  workflows: 'M2 3h4v4H2zM10 9h4v4h-4zM6 5h6v4',
  approvals: 'M8 1.5l5 2V8c0 3-2.2 5-5 6.5C5.2 13 3 11 3 8V3.5zM5.8 8l1.7 1.7L10.5 6.5',
  schedules: 'M8 2a6 6 0 1 0 .01 0M8 5v3l2 1.5',
  deliveries: 'M1.5 3.5h13v9h-13zM1.5 4l6.5 5 6.5-5',
  workers: 'M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5',
  search: 'M7 2a5 5 0 1 0 .01 0M10.6 10.6L14.5 14.5',
  usage: 'M3 14V9M8 14V2M13 14V6',
  keys: 'M1.5 4h13v8.5h-13zM4 7h.01M7 7h.01M10 7h.01M5 10h6',
  dense: 'M2 3h12M2 6.3h12M2 9.6h12M2 13h12',
} as const;
export type IconName = keyof typeof LINES;

/** A drawing beside a word that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={LINES[name]} />
    </svg>
  );
}
