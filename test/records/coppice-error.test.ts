// Proves what an error tells the program that catches it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CoppiceError } from '../../src/records/coppice-error.ts';

it('an error has a name, a code, and by default no hint; another try fails the same unless it says otherwise', () => {
  const told = (error: CoppiceError) => [String(error), error.code, error.hint, error.retryable, error.cause];
  const plain = new CoppiceError('E_CLOSED', 'over');
  assert.deepEqual(told(plain), ['CoppiceError: over', 'E_CLOSED', null, false, undefined]);
  const options = { hint: 'wait', retryable: true, cause: plain };
  assert.deepEqual(told(new CoppiceError('E_DATABASE', 'away', options)), [
    'CoppiceError: away',
    'E_DATABASE',
    'wait',
    true,
    plain,
  ]);
});
