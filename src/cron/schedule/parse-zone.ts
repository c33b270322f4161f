import { distance } from 'fastest-levenshtein';
import { CoppiceError } from '../../records/coppice-error.ts';

const SUGGESTED = 3;
const EXAMPLES = 'Europe/Berlin, America/New_York or UTC';

/** The IANA zone that `text` names, in its canonical case. Throws `E_INVALID_ARGUMENT` with the nearest names. */
export function parseZone(text: string): string {
  const name = text.trim();
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const usual = zones.find((zone) => zone.toLowerCase() === name.toLowerCase());
  if (usual !== undefined) return usual;
  if (/^[a-z]/i.test(name) && isKnown(name)) return name;
  const near = nearest(name, zones);
  const suggestion = near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `;
  throw new CoppiceError('E_INVALID_ARGUMENT', `no time zone is called "${text}"`, {
    hint: `${suggestion}Write an IANA name, for example ${near[0] ?? EXAMPLES}`,
  });
}

/** Whether the zone is valid although it is not listed: older names, such as Asia/Calcutta. */
function isKnown(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The nearest names, comparing the whole name and its last part, for people who write only the city. */
function nearest(name: string, zones: readonly string[]): string[] {
  const wanted = plain(name);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return zones
    .map((zone) => {
      const parts = [zone, zone.split('/').at(-1) as string];
      return { zone, far: Math.min(...parts.map((part) => distance(plain(part), wanted))) };
    })
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far)
    .slice(0, SUGGESTED)
    .map(({ zone }) => zone);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
