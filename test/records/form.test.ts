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
