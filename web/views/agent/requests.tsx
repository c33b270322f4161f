import { count, dollars, duration } from '../../data/amounts.ts';
import { Amount, Heads } from '../../parts/heads.tsx';
import { When } from '../../parts/when.tsx';
import type { ModelRequest } from './agent.tsx';

/** Maximum requests that are listed. */
export const SHOWN = 300;

/** Usage of each model request, newest first. */
export function RequestsView({
  requests,
  total,
}: {
  readonly requests: readonly ModelRequest[] | null;
  readonly total: number;
}) {
  if (requests === null) return <p class="empty">Loading…</p>;
  if (requests.length === 0) return <p class="empty">It has not asked its model yet.</p>;
  const shown = requests.slice(-SHOWN).toReversed();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <section class="wide scroller" tabIndex={0} aria-label="Requests">
      {total > shown.length && (
        <p class="dim">
          The newest {shown.length} of {total}
        </p>
      )}
      <table>
        <Heads
          names={['Began', 'Model', 'Took', 'Input', 'Cached', 'Output', 'Reasoning', 'Cost']}
          numbers={['Took', 'Input', 'Cached', 'Output', 'Reasoning', 'Cost']}
        />
        <tbody>
          {shown.map(({ started_at, model, duration_ms, usage }) => (
            <tr key={started_at} data-row tabIndex={-1}>
              <td>
                <When at={started_at} />
              </td>
              <td>{model}</td>
              <Amount is="took">{duration(duration_ms)}</Amount>
              <Amount is="input">{count(usage.input)}</Amount>
              <Amount is="cached">
                {usage.input === 0 ? '' : `${Math.round((100 * usage.cached) / usage.input)} %`}
              </Amount>
              <Amount is="output">{count(usage.output)}</Amount>
              <Amount is="reasoning">{count(usage.reasoning)}</Amount>
              <Amount is="cost">{dollars(usage.cost_usd)}</Amount>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
