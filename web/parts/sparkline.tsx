import { count } from '../data/amounts.ts';

const WIDTH = 72;
const HEIGHT = 16;
/** As many bars as the server sends at most, so that a short life is short in the picture, too. */
const BARS = 24;

/** Tokens over the life of a tree; a number of the same row says how many in all. */
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
