// Proves that child processes get what is on the fixed list and what is allowed by name, but no key of a provider.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { childEnvironment } from '../../src/processes/child-environment.ts';

it('names on the list and allowed ones that are set are passed, keys of providers never', () => {
  const from = { PATH: '/bin', HOME: undefined, MINE: '1', EMPTY: '', OTHER: '2', OPENAI_API_KEY: 'k' };
  assert.deepEqual(childEnvironment(['MINE', 'EMPTY', 'NONE', 'OPENAI_API_KEY'], from), {
    PATH: '/bin',
    MINE: '1',
    EMPTY: '',
  });
});
