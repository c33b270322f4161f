// Proves which messages count as a child's completion (docs/vocabularies.md, slash), that all of their fields are kept, and that any other message is an ordinary one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Completion,
  completionFrom,
  completionLine,
} from '../../src/records/conversation/facts/completion.ts';

describe('completion messages', () => {
  it('the shapes of the seed are read as they are', () => {
    const whole: readonly Completion[] = [
      { status: 'idle', success: true, summary: 'found two ways' },
      { status: 'idle', success: false, error: 'no network' },
      { status: 'idle', success: false, error: 'no network', partial: 'half of it' },
      { status: 'idle', success: false, error: 'no network', partial: '' },
    ];
    for (const completion of whole) {
      assert.deepEqual(completionFrom(JSON.stringify(completion)), completion);
      assert.deepEqual(completionFrom(`\n  ${JSON.stringify(completion, null, 2)}\n`), completion);
    }
  });

  it('any text survives in them, and so do fields that the shape does not have', { timeout: 60_000 }, () => {
    const said = fc.string({ unit: 'binary', minLength: 1 });
    fc.assert(
      fc.property(said, said, fc.boolean(), fc.jsonValue(), (text, other, success, extra) => {
        const completion: Completion = success
          ? { status: 'idle', success, summary: text }
          : { status: 'idle', success, error: text, partial: other };
        const written = JSON.stringify({ extra, ...completion, more: extra });
        assert.deepEqual(completionFrom(written), JSON.parse(written));
      }),
      { numRuns: 40 },
    );
  });

  it('everything else is an ordinary message, also JSON with some of their fields', () => {
    const ordinary = [
      '',
      'done',
      'status: idle, success: true',
      'I am {"status":"idle","success":true,"summary":"s"}',
      '{"status":"idle","success":true,"summary":"s"} as I said',
      '{"status":"idle","success":true,',
      '{}',
      '[{"status":"idle","success":true,"summary":"s"}]',
      '"status"',
      'null',
      '{"inner":{"status":"idle"}}',
      '{"__proto__":{"status":"idle","success":true,"summary":"s"}}',
      ...[
        { status: 'done', success: true, summary: 's' },
        { success: true, summary: 's' },
        { status: 404 },
        { status: 'idle' },
        { status: 'idle', success: 'true', summary: 's' },
        { status: 'idle', success: true, summary: '' },
        { status: 'idle', success: true, error: 'e' },
        { status: 'idle', success: false, summary: 's' },
        { status: 'idle', success: false, error: 'e', partial: 7 },
      ].map((value) => JSON.stringify(value)),
    ];
    for (const message of ordinary) assert.equal(completionFrom(message), null, message);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        assert.equal(completionFrom(`x${message}`), null);
      }),
    );
  });

  it('one line for people says how it ended, with fields of its own', () => {
    assert.equal(completionLine({ status: 'idle', success: true, summary: 'all read' }), '✓ done: all read');
    const failed = { status: 'idle', success: false, error: 'no key', partial: 'half' } as const;
    assert.equal(completionLine(failed), '✗ failed: no key');
    const ended = (outcome: string) => completionLine({ ...failed, outcome });
    assert.equal(ended('cut_short'), '! cut short: no key');
    assert.equal(ended('stopped'), '✗ stopped: no key');
    assert.equal(ended('done'), '✗ failed: no key {"outcome":"done"}', 'an agent may write anything');
    assert.equal(ended('toString'), '✗ failed: no key {"outcome":"toString"}');
    const more = { ...failed, tests: { red: 2 } };
    assert.equal(completionLine(more), '✗ failed: no key {"tests":{"red":2}}');
  });
});
