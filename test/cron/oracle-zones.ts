import { DEEP } from '../house/deep.ts';
import { type Stretch, stretches } from './oracle-zone.ts';

export const FROM = Date.UTC(2020, 0, 1);
const LAST = Date.UTC(2036, 0, 1);
export const UNTIL = DEEP ? LAST : Date.UTC(2025, 0, 1);
const MARGIN = 500 * 86_400_000;

/** Zones of all kinds, each with its peculiarity. */
export const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Europe/London',
  'America/Sao_Paulo', // no change since 2019
  'Australia/Lord_Howe', // changes by half an hour
  'Asia/Kathmandu', // +05:45
  'Pacific/Apia', // +13:00, changes until 2021
  'Africa/Casablanca', // set back during Ramadan
  'Asia/Tehran', // changes at midnight, until 2022
  'America/Nuuk', // the gap ends at the end of the day
  'America/Santiago', // the gap begins at the start of the day; southern hemisphere
  'Antarctica/Troll', // changes by two hours
  'UTC',
] as const;

const known = new Map<string, readonly Stretch[]>();

/** Stretches of a zone from 500 days before 2020 to 500 days after 2035. */
export function stretchesOf(tz: string): readonly Stretch[] {
  const found = known.get(tz) ?? stretches(tz, FROM - MARGIN, LAST + MARGIN);
  known.set(tz, found);
  return found;
}

/** Instants between `FROM` and `UNTIL` at which the clocks of a zone change. */
export function changesOf(tz: string): number[] {
  return stretchesOf(tz)
    .slice(1)
    .map(({ start }) => start)
    .filter((at) => at > FROM && at < UNTIL);
}
