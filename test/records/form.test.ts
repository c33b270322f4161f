// Proves that each kind of form field has its own bounds only, and that the error for an invalid value says what is wrong.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fieldText, formFields } from '../../src/records/question/form-field.ts';
import { formValues } from '../../src/records/question/form-values.ts';

const fields =
  formFields({
    properties: {
      name: { type: 'string', minimum: 3, maxLength: 5 },
      count: { type: 'integer', minLength: 9, minimum: 2 },
      tags: { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2, maximum: 1 },
    },
  }) ?? [];

it('a bound belongs to its kind', () => {
  assert.deepEqual(fields.map(fieldText), [
    'text, at most 5 characters',
    'whole number, at least 2',
    'any of a, b, c, at least 2 of them',
  ]);
});

it('what is wrong is said in words', () => {
  for (const [values, fault] of [
    [{ name: 'abcdef' }, /at most 5/],
    [{ count: '1' }, /must be at least 2/],
    [{ tags: 'a' }, /must be at least 2 of them$/],
    [{ tags: 'a, d' }, /must be one of a, b, c/],
  ] as const) {
    const read = formValues(fields, values);
    assert.ok(!read.ok);
    assert.match(read.error, fault);
  }
  assert.ok(formValues(fields, { tags: 'a, b' }).ok);
});

it('a choice is meant by its value, its title or its number, and needs no name where nothing else has to be filled in', () => {
  const named = { const: 'eu', title: 'Europe' };
  const place = { type: 'string', oneOf: [named, { const: 'us' }] };
  const of = (properties: object, required: readonly string[]) => formFields({ properties, required }) ?? [];
  const one = of({ place, note: { type: 'string' } }, ['place']);
  const read = (form: typeof one, values: Parameters<typeof formValues>[1]) => {
    const got = formValues(form, values);
    return got.ok ? got.values : got.error;
  };
  assert.deepEqual(one.map(fieldText), ['one of 1. eu (Europe), 2. us, required', 'text']);
  for (const said of ['eu', 'Europe', '1', ' 1 '])
    assert.deepEqual(read(one, { '': said, note: 'x' }), { place: 'eu', note: 'x' });
  for (const said of ['0', '3', 'e', '1.0', '-1'])
    assert.equal(read(one, { place: said }), 'field "place" must be one of eu, us');
  // Where a choice is a number itself, numbers are choices only.
  const counts = of({ count: { type: 'string', enum: ['2', '1', 'none'] } }, ['count']);
  assert.deepEqual(counts.map(fieldText), ['one of 2, 1, none, required']);
  assert.deepEqual(read(counts, { '': '1' }), { count: '1' });
  assert.equal(read(counts, { '': '3' }), 'field "count" must be one of 2, 1, none');
  const sure = of({ sure: { type: 'boolean' } }, ['sure']);
  for (const said of ['true', 'yes', '1']) assert.deepEqual(read(sure, { '': said }), { sure: true });
  for (const said of ['false', 'no', '2']) assert.deepEqual(read(sure, { '': said }), { sure: false });
  assert.equal(
    read(of({ place, count: place }, ['place', 'count']), { '': 'eu', place: 'eu' }).toString(),
    '"eu": which field is it, of place, count?; field "count" is missing',
  );
  const tags = of({ tags: { type: 'array', items: { enum: ['a', 'b', 'c'] } } }, ['tags']);
  assert.deepEqual(read(tags, { '': '1, c' }), { tags: ['a', 'c'] });
});
