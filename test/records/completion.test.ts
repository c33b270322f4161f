// Proves which messages count as a child's completion (docs/vocabularies.md, slash), which are incomplete ones, and which are ordinary messages.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Completion,
  completionLine,
  readCompletion,
} from '../../src/records/conversation/completion.ts';

const json = (value: unknown): string => JSON.stringify(value);

describe('completion messages', () => {
  it('the shapes of the seed are read as they are', () => {
    const whole: readonly Completion[] = [
      { status: 'idle', success: true, summary: 'found two ways' },
      { status: 'idle', success: false, error: 'no network' },
      { status: 'idle', success: false, error: 'no network', partial: 'half of it' },
      { status: 'idle', success: false, error: 'no network', partial: '' },
    ];
    for (const completion of whole) {
      assert.deepEqual(readCompletion(json(completion)), { type: 'completion', completion });
      assert.deepEqual(readCompletion(`\n  ${JSON.stringify(completion, null, 2)}\n`), {
        type: 'completion',
        completion,
      });
    }
  });

  it('any text survives in them, and fields that the shape does not have are left out', () => {
    const said = fc.string({ unit: 'binary', minLength: 1 });
    fc.assert(
      fc.property(said, said, fc.boolean(), fc.jsonValue(), (text, other, success, extra) => {
        const completion: Completion = success
          ? { status: 'idle', success, summary: text }
          : { status: 'idle', success, error: text, partial: other };
        const reading = readCompletion(json({ extra, ...completion, more: extra }));
        assert.deepEqual(reading, { type: 'completion', completion });
      }),
    );
  });

  it('what is meant as one but not whole is told what it lacks, and both shapes', () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [{ status: 'done', success: true, summary: 's' }, /has no "status": "idle"/],
      [{ success: true, summary: 's' }, /has no "status": "idle"/],
      [{ status: null, success: true, summary: 's' }, /has no "status": "idle"/],
      [{ status: 'idle' }, /has no "success": true or false/],
      [{ status: 'idle', success: 'true', summary: 's' }, /has no "success": true or false/],
      [{ status: 'idle', success: null }, /has no "success": true or false/],
      [{ status: 'idle', success: 1 }, /has no "success": true or false/],
      [{ status: 'idle', success: true }, /has no "summary"/],
      [{ status: 'idle', success: true, summary: '' }, /has no "summary"/],
      [{ status: 'idle', success: true, summary: ['s'] }, /has no "summary"/],
      [{ status: 'idle', success: true, error: 'e' }, /has no "summary"/],
      [{ status: 'idle', success: false }, /has no "error"/],
      [{ status: 'idle', success: false, summary: 's' }, /has no "error"/],
      [{ status: 'idle', success: false, error: '' }, /has no "error"/],
      [{ status: 'idle', success: false, error: 'e', partial: 7 }, /has a "partial" that is not a string/],
      [{ status: 'idle', success: false, error: 'e', partial: null }, /has a "partial" that is not a string/],
    ];
    for (const [value, lack] of cases) {
      const reading = readCompletion(json(value));
      assert.ok(reading.type === 'invalid', json(value));
      assert.match(reading.error, lack);
      assert.match(reading.error, /\{"status":"idle","success":true,"summary":"…"\}/);
      assert.match(reading.error, /\{"status":"idle","success":false,"error":"…","partial":"…"\}/);
    }
  });

  it('everything else is an ordinary message', () => {
    const ordinary = [
      '',
      'done',
      'status: idle, success: true',
      'I am {"status":"idle","success":true,"summary":"s"}',
      '{"status":"idle","success":true,"summary":"s"} as I said',
      '{"status":"idle","success":true,',
      '{}',
      '{"progress": 5}',
      '[{"status":"idle","success":true,"summary":"s"}]',
      '"status"',
      'null',
      '{"inner":{"status":"idle"}}',
      '{"__proto__":{"status":"idle"}}',
    ];
    for (const message of ordinary) assert.deepEqual(readCompletion(message), { type: 'none' }, message);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        assert.deepEqual(readCompletion(`x${message}`), { type: 'none' });
      }),
    );
  });

  it('one line for people says how it ended', () => {
    assert.equal(completionLine({ status: 'idle', success: true, summary: 'all read' }), '✓ done: all read');
    assert.equal(
      completionLine({ status: 'idle', success: false, error: 'no key', partial: 'half' }),
      '✗ failed: no key',
    );
  });
});
