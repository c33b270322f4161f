import fc from 'fast-check';

type Text = fc.Arbitrary<string>;

const MONTHS = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT'];

/** Valid expressions of five or six fields; some are never due. */
export const arbitraryExpression: Text = fc
  .tuple(
    fc.option(list(item(0, 59)), { nil: null }),
    list(item(0, 59)),
    fc.oneof(list(item(0, 23)), list(item(0, 4))),
    dayOfMonth(),
    fc.oneof({ weight: 2, arbitrary: fc.constant('*') }, list(named(item(1, 12), MONTHS, 1))),
    dayOfWeek(),
  )
  .map((fields) => fields.filter((field) => field !== null).join(' '));

function list(one: Text): Text {
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
}

function item(lowest: number, highest: number): Text {
  return fc.oneof(fc.constant('*'), { weight: 7, arbitrary: value(lowest, highest) });
}

/** A number, a range, or a step of either a range or a wildcard; never a lone wildcard, with which a list of days would restrict nothing. */
function value(lowest: number, highest: number): Text {
  const number = fc.integer({ min: lowest, max: highest });
  const range = fc.tuple(number, number).map((ends) => ends.toSorted((a, b) => a - b).join('-'));
  const step = fc.integer({ min: 1, max: highest - lowest });
  return fc.oneof(
    { weight: 4, arbitrary: number.map(String) },
    range,
    step.map((by) => `*/${by}`),
    fc.tuple(range, step).map((parts) => parts.join('/')),
  );
}

function dayOfMonth(): Text {
  const workday = fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('*', '?') },
    { weight: 4, arbitrary: list(fc.oneof(value(1, 31), fc.constant('L'), workday)) },
    fc.constant('LW'),
  );
}

function dayOfWeek(): Text {
  const plain = value(0, 7);
  const number = fc.integer({ min: 0, max: 7 }).map(String);
  const nth = fc.tuple(number, fc.constantFrom('1', '2', '3', '4', '5', 'L')).map((parts) => parts.join('#'));
  const last = number.map((day) => `${day}L`);
  const days = list(
    fc.oneof({ weight: 2, arbitrary: named(plain, WEEKDAYS, 0) }, named(nth, WEEKDAYS, 0), last),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('*', '?') },
    { weight: 3, arbitrary: days },
    days.map((text) => `+${text}`),
  );
}

/** Sometimes replaces the numbers of a value or range by names; steps stay numbers. */
function named(one: Text, names: readonly string[], first: number): Text {
  return fc.tuple(one, fc.boolean()).map(([text, byName]) => {
    if (!byName || !/^\d+(?:-\d+)?(?:#\w)?$/.test(text)) return text;
    const [value = '', nth] = text.split('#');
    const spelled = value.replace(/\d+/g, (number) => names[Number(number) - first] ?? number);
    return nth === undefined ? spelled : `${spelled}#${nth}`;
  });
}
