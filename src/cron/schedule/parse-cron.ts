import { CronPattern } from 'croner';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import { counted } from '../../records/text/text.ts';
import { CRON_MODE } from './cron-expression.ts';
import { instantText } from './describe-schedule.ts';
import { nextInstant } from './next-instant.ts';

interface Field {
  readonly name: string;
  readonly allowed: string;
  /** Replaces a wrong value in the example of the hint. */
  readonly example: string;
}

const FIELDS: readonly Field[] = [
  { name: 'second', allowed: '0-59', example: '0' },
  { name: 'minute', allowed: '0-59', example: '0' },
  { name: 'hour', allowed: '0-23', example: '9' },
  {
    name: 'day of the month',
    allowed: '1-31, L (the last), 15W (the workday nearest to the 15th) or LW (the last workday)',
    example: '1',
  },
  { name: 'month', allowed: '1-12 or JAN-DEC', example: '*' },
  {
    name: 'weekday',
    allowed: '0-7 or SUN-SAT (0 and 7 are Sunday), MON#2 (the second Monday) or FRI#L (the last Friday)',
    example: '1-5',
  },
];
const DAY_OF_MONTH = 3;
const USUAL = '0 9 * * 1-5';
const NICKNAMES = '@hourly, @daily, @weekly, @monthly and @yearly';

/** Returns a normalised expression that will match: five or six fields separated by single spaces, nicknames expanded. Throws `E_INVALID_ARGUMENT`. */
export function parseCron(text: string, tz: string, now: number): string {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const refuse = (message: string, hint: string, examples: readonly string[] = []): CoppiceError =>
    new CoppiceError('E_INVALID_ARGUMENT', message, {
      hint: `${hint}. ${exampleText([...examples, USUAL], tz, now)}`,
    });
  if (words[0]?.startsWith('@')) {
    const expression = words.length === 1 ? written(words[0]) : null;
    if (expression === null) throw refuse(`cron "${text}" is not known`, `Known are ${NICKNAMES}`);
    return expression;
  }
  if (words.length !== 5 && words.length !== 6) throw refuse(...wrongCount(text, words.length));
  const six = words.length === 5 ? ['0', ...words] : words;
  const wrong = FIELDS.flatMap((field, index) => {
    const problem = problemOf(six[index] as string, index);
    return problem === null ? [] : { field, index, problem };
  });
  const [first] = wrong;
  if (first !== undefined) {
    const mended = six.map((word, index) => wrong.find((one) => one.index === index)?.field.example ?? word);
    throw refuse(
      `cron "${text}": the ${first.field.name} "${six[first.index]}" ${first.problem}`,
      `Allowed for the ${first.field.name}: ${first.field.allowed}; as a list 1,3, a range 1-5 or a step */2 or 1-9/2`,
      [mended.slice(6 - words.length).join(' ')],
    );
  }
  const expression = written(words.join(' '));
  if (expression === null) throw refuse(`cron "${text}" is not a valid expression`, 'Write five fields');
  if (nextInstant({ type: 'cron', expression, tz }, now) === null) {
    const last = six.with(DAY_OF_MONTH, 'L').slice(6 - words.length);
    throw refuse(`cron "${text}" never matches any date`, 'The last day of a month is L', [last.join(' ')]);
  }
  return expression;
}

/** Returns the normalised expression; null if it is invalid. */
function written(expression: string): string | null {
  return orElse(() => new CronPattern(expression, undefined, { mode: CRON_MODE }).pattern, null);
}

function wrongCount(text: string, count: number): [message: string, hint: string] {
  const shape = 'Write minute, hour, day of the month, month and weekday; seconds may come first';
  const message = `cron "${text}" has ${counted(count, 'field')}, not 5 or 6`;
  return [message, count === 7 ? `${shape}; a year cannot be given, for one date there is at` : shape];
}

/** Returns what is wrong with one field, found by parsing it alone; null if it is valid. */
function problemOf(word: string, index: number): string | null {
  if (written(Array(6).fill('*').with(index, word).join(' ')) !== null) return null;
  if (/^[^*-]*\//.test(word)) return 'has a step without a range';
  const [from, to] = word.split('-');
  const reversed = from && to && written(Array(6).fill('*').with(index, `${to}-${from}`).join(' ')) !== null;
  return reversed ? 'runs backwards' : 'is not allowed';
}

/** A hint with the first example that will match, and when it is due next. */
function exampleText(examples: readonly string[], tz: string, now: number): string {
  for (const expression of examples) {
    const next = nextInstant({ type: 'cron', expression, tz }, now);
    if (next !== null) return `For example "${expression}": due next ${instantText(next, tz)}`;
  }
  return `For example "${USUAL}"`;
}
