import { boundsOf, type FormField, type FormValue, meantChoice, neededField } from './form-field.ts';

const TEXT_MAX = 100_000;

type Values = Readonly<Record<string, FormValue>>;
type Read = { readonly ok: true; readonly value: FormValue } | { readonly ok: false; readonly fault: string };

/**
 * Validates the values of a form and fills in defaults. Strings are converted to the type of their field: `5`, `true`, `a,b`, the number of a choice. A value
 * without a name is that of the one field that has to be filled in. The error lists every fault.
 */
export function formValues(
  fields: readonly FormField[],
  { '': unnamed, ...named }: Values,
): { readonly ok: true; readonly values: Values } | { readonly ok: false; readonly error: string } {
  const faults: string[] = [];
  const values: Record<string, FormValue> = Object.create(null);
  const names = fields.map(({ name }) => name);
  const needed = unnamed === undefined ? null : neededField(fields);
  if (unnamed !== undefined && needed === null)
    faults.push(`"${unnamed}": which field is it${names.length > 0 ? `, of ${names.join(', ')}` : ''}?`);
  const given = needed === null || unnamed === undefined ? named : { [needed.name]: unnamed, ...named };
  for (const name of Object.keys(given))
    if (!names.includes(name))
      faults.push(`there is no field "${name}"${names.length > 0 ? `: there are ${names.join(', ')}` : ''}`);
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : field.default;
    if (value === undefined) {
      if (field.required) faults.push(`field "${field.name}" is missing`);
      continue;
    }
    const read = readValue(field, value);
    if (read.ok) values[field.name] = read.value;
    else faults.push(`field "${field.name}" ${read.fault}`);
  }
  return faults.length === 0 ? { ok: true, values: { ...values } } : { ok: false, error: faults.join('; ') };
}

function readValue(field: FormField, value: FormValue): Read {
  switch (field.kind) {
    case 'text':
      return readTextField(field, value);
    case 'number':
    case 'integer':
      return numberOf(field, value);
    case 'boolean': {
      const meant = meantChoice(field, String(value));
      return meant === null ? no('must be true or false') : { ok: true, value: meant.value === 'true' };
    }
    case 'choice': {
      const meant = meantChoice(field, String(value));
      return meant === null ? no(choicesText(field)) : { ok: true, value: meant.value };
    }
    case 'choices':
      return choicesOf(field, value);
  }
}

function readTextField({ min = 0, max = TEXT_MAX, format }: FormField, value: FormValue): Read {
  if (typeof value !== 'string') return no('must be text');
  const length = [...value].length;
  if (length < min) return no(`must have at least ${min} characters`);
  if (length > Math.min(max, TEXT_MAX)) return no(`must have at most ${Math.min(max, TEXT_MAX)} characters`);
  if (format !== undefined && !FORMATS[format](value)) return no(`must be ${NAMES[format]}`);
  return { ok: true, value };
}

const FORMATS: Readonly<Record<NonNullable<FormField['format']>, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d\d-\d\dT/i.test(text) && !Number.isNaN(Date.parse(text)),
};

const NAMES: Readonly<Record<NonNullable<FormField['format']>, string>> = {
  email: 'an email address',
  uri: 'an address such as https://example.org',
  date: 'a date such as 2026-11-25',
  'date-time': 'a time such as 2026-11-25T12:00:00Z',
};

function numberOf({ kind, min, max }: FormField, value: FormValue): Read {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return no('must be a number');
  if (kind === 'integer' && !Number.isInteger(number)) return no('must be a whole number');
  if (min !== undefined && number < min) return no(`must be at least ${min}`);
  if (max !== undefined && number > max) return no(`must be at most ${max}`);
  return { ok: true, value: number };
}

function choicesOf(field: FormField, value: FormValue): Read {
  const { min = 0, max = Number.POSITIVE_INFINITY } = field;
  const list = typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value;
  if (!Array.isArray(list)) return no(choicesText(field));
  const meant = (list as readonly string[]).filter((one) => one !== '').map((one) => meantChoice(field, one));
  if (meant.includes(null)) return no(choicesText(field));
  const chosen = [...new Set(meant.map((one) => one?.value ?? ''))];
  if (chosen.length < min || chosen.length > max) return no(`must be ${boundsOf(field).join()}`);
  return { ok: true, value: chosen };
}

function choicesText({ choices = [] }: FormField): string {
  return `must be one of ${choices.map(({ value }) => value).join(', ')}`;
}

function no(fault: string): Read {
  return { ok: false, fault };
}
