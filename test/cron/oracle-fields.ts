/** The wall times that an expression matches, parsed without the library under test. */
export interface Fields {
  readonly second: (value: number) => boolean;
  readonly minute: (value: number) => boolean;
  readonly hour: (value: number) => boolean;
  /** Arguments: year, month 1–12, day of the month. */
  readonly day: (year: number, month: number, day: number) => boolean;
  /** Whether the hours are written out, without wildcard or step. */
  readonly fixed: boolean;
}

type Test = (value: number) => boolean;
type DayTest = (year: number, month: number, day: number) => boolean;

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Parses five fields, or six with seconds first. Expects a valid expression. */
export function readFields(expression: string): Fields {
  const parts = (NICKNAMES[expression] ?? expression).toUpperCase().replaceAll('?', '*').split(' ');
  const [second, minute, hour, day, month, weekday] = (parts.length === 5 ? ['0', ...parts] : parts) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const inMonth = anyOf(month, (item) => numbers(named(item, MONTHS, 1), 1, 12));
  const inDays = dayTest(day, weekday);
  return {
    second: anyOf(second, (item) => numbers(item, 0, 59)),
    minute: anyOf(minute, (item) => numbers(item, 0, 59)),
    hour: anyOf(hour, (item) => numbers(item, 0, 23)),
    day: (y, m, d) => inMonth(m) && inDays(y, m, d),
    fixed: !/[*/]/.test(hour),
  };
}

function anyOf(field: string, read: (item: string) => Test): Test {
  const tests = field.split(',').map(read);
  return (value) => tests.some((test) => test(value));
}

// Reads `*`, `5`, `1-5`, `*/2`, `1-20/3`.
function numbers(item: string, lowest: number, highest: number): Test {
  const [range = '', step = '1'] = item.split('/');
  const [from = '', to = from] = range === '*' ? [`${lowest}`, `${highest}`] : range.split('-');
  return (value) => value >= +from && value <= +to && (value - +from) % +step === 0;
}

function named(item: string, names: readonly string[], first: number): string {
  return item.replace(/[A-Z]{3}/g, (name) => `${names.indexOf(name) + first}`);
}

/** If both day fields are restricted, either may match; with `+` before the weekday, both must. */
function dayTest(day: string, weekday: string): DayTest {
  const both = weekday.startsWith('+');
  const ofMonth = day.split(',').map(dayOfMonth);
  const ofWeek = weekday
    .slice(both ? 1 : 0)
    .split(',')
    .map(dayOfWeek);
  const some =
    (tests: readonly DayTest[]): DayTest =>
    (y, m, d) =>
      tests.some((test) => test(y, m, d));
  const [inMonth, inWeek] = [some(ofMonth), some(ofWeek)];
  if (day === '*' || weekday === '*' || both) return (y, m, d) => inMonth(y, m, d) && inWeek(y, m, d);
  return (y, m, d) => inMonth(y, m, d) || inWeek(y, m, d);
}

function dayOfMonth(item: string): DayTest {
  if (item === 'L') return (y, m, d) => d === daysIn(y, m);
  if (item.endsWith('W')) {
    return (y, m, d) => {
      const wanted = item === 'LW' ? daysIn(y, m) : Number(item.slice(0, -1));
      return wanted <= daysIn(y, m) && d === nearestWorkday(y, m, wanted);
    };
  }
  const test = numbers(item, 1, 31);
  return (_y, _m, d) => test(d);
}

function dayOfWeek(item: string): DayTest {
  const [text = '', nth = null] = item.split('#');
  const last = nth === 'L' || /^.+L$/.test(text);
  const range = named((last && nth === null ? text.slice(0, -1) : text).replace('-SUN', '-7'), WEEKDAYS, 0);
  const test = numbers(range, 0, 7);
  const sunday = (value: number): boolean => test(value) || (value === 0 && test(7) && range !== '*');
  return (y, m, d) => {
    if (!sunday(weekdayOf(y, m, d))) return false;
    if (last) return d + 7 > daysIn(y, m);
    return nth === null || Math.ceil(d / 7) === Number(nth);
  };
}

function nearestWorkday(year: number, month: number, day: number): number {
  const offsets = [0, -1, 1, -2, 2];
  const near = offsets.map((offset) => day + offset).filter((one) => one >= 1 && one <= daysIn(year, month));
  return near.find((one) => ![0, 6].includes(weekdayOf(year, month, one))) as number;
}

function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
