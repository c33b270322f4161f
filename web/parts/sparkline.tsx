import { count } from '../data/amounts.ts';

const WIDTH = 72;
const HEIGHT = 16;
/** Maximum bars that the server sends; the few bars of a short life fill only part of the width. */
const BARS = 24;

/** Tokens over the life of a tree; the same row has their total as a number. */
export function Sparkline({ tokens }: { readonly tokens: readonly number[] }) {
  const most = Math.max(1, ...tokens);
  const slot = WIDTH / BARS;
  return (
    <svg
      class="sparkline"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`at most ${count(most)} at once`}
    >
      {tokens.map((used, index) => {
        const height = used === 0 ? 0 : Math.max(1, (used / most) * HEIGHT);
        return <rect key={index} x={index * slot} y={HEIGHT - height} width={slot - 1} height={height} />;
      })}
    </svg>
  );
}
