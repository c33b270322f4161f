import { useMemo } from 'preact/hooks';
import { encode } from 'uqr';
import { placeOf } from '../data/route.ts';
import type { PageContext } from '../parts/page.ts';

const LOOPBACK = /^(?:127\.|localhost$|\[::1\]$)/;

/** The address of a page as a code for the camera of a phone. It signs nobody in: a session makes no links that do, so that a stolen one ends. */
export function PhoneView({ route }: PageContext) {
  const { origin, hostname } = window.location;
  const path = route.query.get('page') ?? '/approvals';
  const address = `${origin}${placeOf(path.startsWith('/') ? path : '/approvals')}`;
  const { size, data } = useMemo(() => encode(address, { border: 2 }), [address]);
  const drawn = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return (
    <section class="phone" aria-labelledby="phone">
      <h1 id="phone">On a phone</h1>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`Code for ${address}`}>
        <path class="light" d={`M0 0h${size}v${size}h-${size}z`} />
        <path d={drawn} />
      </svg>
      <p>
        Its camera opens <code>{address}</code>.
      </p>
      {LOOPBACK.test(hostname) && (
        <p class="trouble">
          Only this machine reaches that address. For a phone, see <code>server.listen</code> and{' '}
          <code>server.hosts</code> in the configuration.
        </p>
      )}
      <p class="dim">
        A phone that is not signed in asks for a code: let <code>coppice web --qr</code> draw the link in a
        terminal.
      </p>
    </section>
  );
}
