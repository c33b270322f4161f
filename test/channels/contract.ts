import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Channel, DeliverResult, Parcel } from '../../src/channels/channel.ts';
import { errorOf, newAsk, newContext, newParcel, newRun } from './parcel-fixture.ts';

/**
 * How the other side treats the next delivery. `refuse`: rejects it permanently. `busy`: asks for a retry. `down`: is unreachable. `hang`: accepts it and never
 * answers.
 */
export type Fault = 'refuse' | 'busy' | 'down' | 'hang';

export interface ChannelUnderTest {
  readonly channel: Channel;
  /** An address that accepts parcels; `received` returns what it accepted. */
  readonly good_address: string;
  readonly bad_address: string;
  /** Tokens, keys and addresses that contain one; no error may contain them. */
  readonly secrets: readonly string[];
  /** All texts that the good address acknowledged, in that order, a split text as one. With ids if the channel carries them. */
  received(): Promise<readonly { readonly id?: string; readonly text: string }[]>;
  /** The text that arrives if the channel alters it on purpose; default: unchanged. */
  readonly shown?: (text: string) => string;
  /** Makes the next delivery fail in one of the ways in `faults`. */
  failNext?(kind: Fault): void;
  /** Closes the other side; the channel is closed before. */
  close(): Promise<void>;
}

/** Generous: below every channel's own timeout, and far above what stopping takes. */
const SOON_MS = 8_000;
const UNICODE =
  'naïve 漢字 🎋 👩🏽‍💻 שלום עולם\n\t"quoted" \\ %_ $1 <b>&amp;</b> *not* _bold_ `code`\n\n## heading\n\n- item';
const LARGE = Array.from(
  { length: 2_500 },
  (_, line) => `line ${line} of a long text: 漢字 and letters`,
).join('\n');

/** The contract suite that every channel must pass. `faults` lists those that `failNext` supports. */
export function channelContract(
  name: string,
  start: () => Promise<ChannelUnderTest>,
  faults: readonly Fault[] = [],
): void {
  describe(`channel contract: ${name}`, () => {
    let under_test: ChannelUnderTest;
    let channel: Channel;
    before(async () => {
      under_test = await start();
      channel = under_test.channel;
    });
    after(async () => {
      await channel.close();
      await under_test.close();
    });
    const deliver = (parcel: Parcel, signal?: AbortSignal): Promise<DeliverResult> =>
      channel.deliver(parcel, newContext(signal));
    const good = (over: Partial<Parcel> = {}) => newParcel(under_test.good_address, over);
    const shown = (text: string) => under_test.shown?.(text) ?? text;
    const texts = async () => (await under_test.received()).map(({ text }) => text);
    const assertSentence = (text: string) => {
      assert.ok(text.length > 10 && text.length < 1_000, `a sentence: ${text}`);
      assert.ok(!/\p{Cc}/u.test(text), `one line, nothing that steers a terminal: ${text}`);
      for (const secret of under_test.secrets) assert.ok(!text.includes(secret), `without secrets: ${text}`);
    };

    it('has a name that a target can begin with', () => {
      assert.match(channel.name, /^[a-z][a-z0-9-]*$/);
    });

    it('knows a good address, and says of a bad one what is wrong', () => {
      assert.equal(channel.check(under_test.good_address), null);
      assertSentence(channel.check(under_test.bad_address) ?? '');
      assertSentence(channel.check(`${'long '.repeat(1_000)}\u001b[31m`) ?? '');
    });

    it('never delivers to a bad address, and says why', async () => {
      const result = await deliver(newParcel(under_test.bad_address));
      assert.equal(result.type, 'failed');
      assertSentence(errorOf(result));
    });

    for (const [what, text] of [
      ['any Unicode', UNICODE],
      ['100 KB', LARGE],
      ['a single letter', 'a'],
    ] as const) {
      it(`delivers text verbatim: ${what}`, async () => {
        const before_it = (await texts()).length;
        assert.deepEqual(await deliver(good({ text })), { type: 'delivered' });
        assert.deepEqual((await texts()).slice(before_it), [shown(text)]);
      });
    }

    it('delivers the end of a run and a question', async () => {
      const before_it = (await texts()).length;
      const run = newRun();
      const ask = newAsk();
      assert.deepEqual(await deliver(good({ kind: 'run', text: 'the run has ended', run })), {
        type: 'delivered',
      });
      assert.deepEqual(await deliver(good({ kind: 'ask', text: 'a question', ask })), { type: 'delivered' });
      const [first = '', second = ''] = (await texts()).slice(before_it);
      assert.ok(first.includes('the run has ended'), first);
      assert.ok(second.includes('question') || second.includes(ask.subject), second);
    });

    it('delivers parcels concurrently, each whole and exactly once', async () => {
      const before_it = (await texts()).length;
      const sent = Array.from({ length: 10 }, (_, n) => `parcel ${n} `.repeat(400).trim());
      const results = await Promise.all(sent.map((text) => deliver(good({ text }))));
      assert.deepEqual(
        new Set(results.map(({ type }) => type)),
        new Set(['delivered']),
        JSON.stringify(results),
      );
      assert.deepEqual((await texts()).slice(before_it).sort(), sent.map(shown).sort());
    });

    it('never throws, whatever comes', async () => {
      const strange: readonly Partial<Parcel>[] = [
        { address: '' },
        { address: '\0' },
        { address: '../../../etc' },
        { address: 'x'.repeat(100_000) },
        { address: 'http://user:password@127.0.0.1/' },
        { address: '__proto__' },
        { text: '' },
        { text: '\0\ud800 \u001b[2J' },
        { id: 'a\r\nb: c' },
        { id: '🎋' },
        { created_at: Number.NaN },
        { created_at: 1e300, progress: 'not of this channel' },
        { kind: 'run', run: newRun({ created_at: Number.NaN, session_key: '' }) },
        { kind: 'ask', ask: newAsk({ input: 'not JSON' }) },
      ];
      for (const over of strange) {
        const context = {
          ...newContext(),
          saveProgress: () => Promise.reject(new Error('the claim was lost')),
        };
        const result = await channel.deliver(good(over), context);
        assert.ok(['delivered', 'retry', 'failed'].includes(result.type), JSON.stringify(over));
        if (result.type !== 'delivered') assertSentence(result.error);
      }
    });

    it('does not begin when it was already stopped', async () => {
      const before_it = (await texts()).length;
      const result = await deliver(good({ text: 'stopped before' }), AbortSignal.abort());
      assert.equal(result.type, 'retry', JSON.stringify(result));
      assert.equal((await texts()).length, before_it);
    });

    for (const fault of faults) {
      if (fault === 'hang') {
        it('resolves soon after its signal aborts, and delivers the next time', async () => {
          under_test.failNext?.(fault);
          const stop = new AbortController();
          const parcel = good({ text: 'stopped on the way' });
          const result = deliver(parcel, stop.signal);
          // The delivery must hang, or the stop would prove nothing.
          assert.equal(await Promise.race([result, later(200)]), 'later');
          stop.abort();
          const ended = await Promise.race([result, later(SOON_MS)]);
          assert.ok(ended !== 'later', 'it went on after the abort');
          assert.equal(ended.type, 'retry', JSON.stringify(ended));
          assertSentence(errorOf(ended));
          assert.deepEqual(await deliver({ ...parcel, attempt: 2 }), { type: 'delivered' });
          assert.equal((await texts()).at(-1), shown(parcel.text));
        });
        continue;
      }
      const type = fault === 'refuse' ? 'failed' : 'retry';
      it(`calls "${fault}" ${type}, without a secret, and delivers when that is over`, async () => {
        const before_it = (await texts()).length;
        under_test.failNext?.(fault);
        const parcel = good({ text: `after ${fault}` });
        const result = await deliver(parcel);
        assert.equal(result.type, type, JSON.stringify(result));
        assertSentence(errorOf(result));
        assert.equal((await texts()).length, before_it, 'nothing counts as received');
        assert.deepEqual(await deliver({ ...parcel, attempt: 2 }), { type: 'delivered' });
        assert.deepEqual((await texts()).slice(before_it), [shown(parcel.text)]);
      });
    }

    it('a repeat is delivered again, under the same id', async () => {
      const parcel = good({ text: 'twice' });
      const before_it = (await texts()).length;
      await deliver(parcel);
      await deliver({ ...parcel, attempt: 2 });
      const both = (await under_test.received()).slice(before_it);
      assert.deepEqual(
        both.map(({ id = parcel.id, text }) => [id, text]),
        [1, 2].map(() => [parcel.id, shown(parcel.text)]),
      );
    });

    it('once closed it delivers nothing, and closes twice', async () => {
      const before_it = (await texts()).length;
      await channel.close();
      const result = await deliver(good({ text: 'after the close' }));
      assert.notEqual(result.type, 'delivered');
      assertSentence(errorOf(result));
      assert.equal((await texts()).length, before_it);
      await channel.close();
    });
  });
}

function later(ms: number): Promise<'later'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('later'), ms).unref();
  });
}
