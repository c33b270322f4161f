// Proves that a webhook keeps the channel contract, signs so that any Standard Webhooks library verifies, and interprets every answer correctly.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { Channel, DeliverResult, Parcel } from '../../src/channels/channel.ts';
import { openWebhook } from '../../src/channels/webhook/webhook-channel.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { channelContract } from './contract.ts';
import { errorOf, newAsk, newContext, newParcel, newRun } from './parcel-fixture.ts';
import { type Received, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const KEY = 'c2VjcmV0IHNpZ25pbmcga2V5IG9mIDMyIGJ5dGVzISE=';
const SECRET = `whsec_${KEY}`;
const TOKEN = 'tkn-5f2a9c';

channelContract('webhook', async () => {
  const receiver = await startWebhookReceiver();
  const path = `/services/T0AB/${TOKEN}?key=${TOKEN}-in%20query&v=1`;
  const echo = ({ path: asked }: Received) =>
    `Cannot POST ${asked}, nor ${decodeURIComponent(asked)} with ${SECRET} or ${KEY}`;
  const faulty = new Set<Received>();
  return {
    channel: openWebhook({ ops: { url: receiver.url + path, secret: SECRET } }),
    good_address: 'ops',
    bad_address: 'opz',
    secrets: [SECRET, KEY, TOKEN, 'in query', 'v=1'],
    received: async () =>
      receiver.requests.flatMap((request) =>
        faulty.has(request) ? [] : [JSON.parse(request.body) as { id: string; text: string }],
      ),
    failNext: (kind) =>
      receiver.answerNext((response, request) => {
        faulty.add(request);
        if (kind === 'refuse') response.writeHead(404).end(echo(request));
        if (kind === 'busy') response.writeHead(429, { 'retry-after': '7' }).end(echo(request));
        if (kind === 'down') response.socket?.destroy();
      }),
    close: () => receiver.close(),
  };
}, ['refuse', 'busy', 'down', 'hang']);

describe('webhook', () => {
  let receiver: WebhookReceiver;
  let channel: Channel;
  before(async () => {
    receiver = await startWebhookReceiver();
    channel = openWebhook({ ops: { url: receiver.url, secret: SECRET } });
  });
  after(async () => {
    await channel.close();
    await receiver.close();
  });
  const deliver = (parcel: Parcel = newParcel('ops'), on = channel): Promise<DeliverResult> =>
    on.deliver(parcel, newContext());
  const last = (): Received => receiver.requests.at(-1) as Received;
  const headersOf = ({ headers }: Received) => headers as Record<string, string>;

  it('signs in a way that the library of the scheme verifies, whatever form the secret has', async () => {
    for (const [secret, verifier] of [
      [SECRET, new Webhook(SECRET)],
      ['just a passphrase', new Webhook('just a passphrase', { format: 'raw' })],
      ['pässwört 🎋', new Webhook(Buffer.from('pässwört 🎋', 'utf8'), { format: 'raw' })],
    ] as const) {
      const signed = openWebhook({ ops: { url: receiver.url, secret } });
      const parcel = newParcel('ops', { text: 'signed: 漢字 🎋' });
      assert.deepEqual(await deliver(parcel, signed), { type: 'delivered' });
      const request = last();
      assert.equal(request.method, 'POST');
      assert.equal(request.headers['content-type'], 'application/json');
      const verified = verifier.verify(request.body, headersOf(request)) as { text: string };
      assert.equal(verified.text, parcel.text);
      assert.throws(() => verifier.verify(request.body.replace('signed', 'forged'), headersOf(request)));
      await signed.close();
    }
  });

  it('gives every attempt the same id, and its own timestamp', async () => {
    let now = 1_800_000_000_999;
    const timed = openWebhook({ ops: { url: receiver.url, secret: SECRET } }, { now: () => now });
    const parcel = newParcel('ops');
    receiver.answerNext((response) => response.writeHead(503).end());
    assert.equal((await deliver(parcel, timed)).type, 'retry');
    const first = headersOf(last());
    now += 61_000;
    assert.equal((await deliver({ ...parcel, attempt: 2 }, timed)).type, 'delivered');
    const second = headersOf(last());
    assert.deepEqual([first['webhook-id'], second['webhook-id']], [parcel.id, parcel.id]);
    assert.deepEqual([first['webhook-timestamp'], second['webhook-timestamp']], ['1800000000', '1800000061']);
    assert.notEqual(first['webhook-signature'], second['webhook-signature']);
    await timed.close();
  });

  it('posts one stable shape for a reply, a run and a question', async () => {
    const run = newRun({
      ...{ status: 'timeout', result: 'half', error: 'too slow' },
      ...{ outcome: 'cut_short', outcome_text: 'cut short: too slow' },
    });
    const ask = newAsk();
    const ran = newParcel('ops', { kind: 'run', text: 'T', run });
    const asked = newParcel('ops', { kind: 'ask', text: 'Q', ask });
    const ended = { outcome: 'done', outcome_text: 'done, 1 of 2 failed: auth: no key' } as const;
    const replied = newParcel('ops', { text: 'R', ...ended });
    for (const parcel of [ran, asked, replied]) await deliver(parcel);
    const bodies = receiver.requests.slice(-3).map(({ body }) => JSON.parse(body) as unknown);
    const common = ({ id, kind, text, agent_id, root_id }: Parcel) => ({
      schema: 'coppice/delivery/v1',
      id,
      kind,
      text,
      created_at: '2026-11-21T02:31:22.250Z',
      agent_id,
      root_id,
      outcome: null,
      outcome_text: null,
      run: null,
      ask: null,
    });
    assert.deepEqual(bodies, [
      {
        ...common(ran),
        ...{ outcome: 'cut_short', outcome_text: 'cut short: too slow' },
        run: {
          id: run.id,
          job: 'job-7',
          outcome: 'cut_short',
          outcome_text: 'cut short: too slow',
          status: 'timeout',
          label: 'nightly',
          source: 'cron',
          session_key: 'cron:job-7',
          task: 'look at the logs',
          result: 'half',
          error: 'too slow',
          created_at: '2026-11-21T02:29:52.250Z',
          started_at: '2026-11-21T02:30:22.250Z',
          finished_at: '2026-11-21T02:31:22.250Z',
        },
      },
      {
        ...common(asked),
        ask: {
          id: ask.id,
          agent_name: 'file-reader',
          tool: 'bash',
          subject: 'rm -rf dist',
          input: '{"command":"rm -rf dist"}',
          cwd: '/proj',
          rule: 'ask(bash:rm *)',
        },
      },
      { ...common(replied), ...ended },
    ]);
  });

  it('tells a run of a job from one without, and a time that is missing', async () => {
    const run = newRun({ source: 'subagent', session_key: 'agent:main:subagent:x', started_at: null });
    await deliver(newParcel('ops', { kind: 'run', run }));
    const body = JSON.parse(last().body) as { run: { job: unknown; started_at: unknown } };
    assert.deepEqual([body.run.job, body.run.started_at], [null, null]);
  });

  const NOW = Date.UTC(2026, 10, 21);
  const HOUR = 3_600_000;
  for (const [status, headers, type, after_ms] of [
    [200, {}, 'delivered', null],
    [202, {}, 'delivered', null],
    [301, { location: '/other' }, 'failed', null],
    [304, {}, 'failed', null],
    [400, { 'retry-after': '5' }, 'failed', null],
    [401, {}, 'failed', null],
    [404, {}, 'failed', null],
    [408, {}, 'retry', null],
    [410, {}, 'failed', null],
    [413, {}, 'failed', null],
    [425, { 'retry-after': '0' }, 'retry', 0],
    [429, { 'retry-after': '120' }, 'retry', 120_000],
    [429, { 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, 'retry', 30_000],
    [429, { 'retry-after': 'Fri, 20 Nov 2026 00:00:00 GMT' }, 'retry', 0],
    [429, { 'retry-after': '999999' }, 'retry', HOUR],
    [500, { 'retry-after': 'soon' }, 'retry', null],
    [503, { 'retry-after': 'Sat, 28 Nov 2026 00:00:00 GMT' }, 'retry', HOUR],
    [599, {}, 'retry', null],
  ] as const) {
    const wish = 'retry-after' in headers ? `, retry after ${headers['retry-after']}` : '';
    it(`an answer ${status}${wish}: ${type}${after_ms === null ? '' : ` in ${after_ms} ms`}`, async () => {
      const timed = openWebhook({ ops: { url: receiver.url, secret: SECRET } }, { now: () => NOW });
      const count = receiver.requests.length;
      receiver.answerNext((response) => response.writeHead(status, headers).end());
      const result = await deliver(newParcel('ops'), timed);
      assert.equal(result.type, type, JSON.stringify(result));
      if (result.type === 'retry') assert.equal(result.after_ms, after_ms);
      if (result.type !== 'delivered') assert.match(result.error, new RegExp(`"ops" answered ${status}`));
      assert.equal(receiver.requests.length, count + 1, 'no redirect was followed');
      await timed.close();
    });
  }

  it('quotes at most 200 cleaned characters of an answer', async () => {
    receiver.answerNext((response) =>
      response.writeHead(400).end(`\u001b[31mbad\u001b[0m\n\u202Einput\t${'x'.repeat(1_000)}`),
    );
    const error = errorOf(await deliver());
    assert.match(error, /answered 400: bad input x+$/);
    assert.ok(error.length < 260, error);
  });

  it('reads no more than 64 KB of an answer that does not end', async () => {
    for (const [status, type] of [
      [200, 'delivered'],
      [500, 'retry'],
    ] as const) {
      let closed = false;
      let written = 0;
      receiver.answerNext((response) => {
        response.on('close', () => {
          closed = true;
        });
        response.on('error', () => undefined);
        response.writeHead(status);
        const pour = () => {
          while (!closed) {
            written += 16_384;
            if (!response.write('y'.repeat(16_384))) return void response.once('drain', pour);
          }
        };
        pour();
      });
      assert.equal((await deliver()).type, type);
      assert.ok(await eventually(() => closed), 'the connection was closed');
      assert.ok(written > 0 && written < 50_000_000, `${written} bytes were written before the end`);
    }
  });

  it('an answer that breaks off counts by its status', async () => {
    for (const [status, type] of [
      [200, 'delivered'],
      [503, 'retry'],
    ] as const) {
      receiver.answerNext((response) => {
        response.writeHead(status, { 'content-length': '1000' });
        response.write('the begin', () => response.socket?.destroy());
      });
      assert.equal((await deliver()).type, type);
    }
  });

  it('waits no longer than its time limit: before an answer, and in the middle of one', async () => {
    const hasty = openWebhook({ ops: { url: receiver.url, secret: SECRET } }, { time_limit_ms: 1_000 });
    receiver.answerNext(() => undefined);
    const silent = await deliver(newParcel('ops'), hasty);
    assert.equal(silent.type, 'retry');
    assert.match(errorOf(silent), /did not answer within 1 s/);
    receiver.answerNext((response) => response.writeHead(500).write('so far'));
    const half = await deliver(newParcel('ops'), hasty);
    assert.equal(half.type, 'retry');
    assert.match(errorOf(half), /answered 500: so far/);
    await hasty.close();
  });

  it('retries where nobody listens, and where another protocol is spoken', async () => {
    const gone = await startWebhookReceiver();
    await gone.close();
    const { host } = new URL(gone.url);
    const broken = openWebhook({
      gone: { url: gone.url, secret: SECRET },
      tls: { url: receiver.url.replace('http:', 'https:'), secret: SECRET },
    });
    const refused = await deliver(newParcel('gone'), broken);
    assert.deepEqual(refused, {
      type: 'retry',
      error: `the webhook "gone" (${host}) cannot be reached (ECONNREFUSED)`,
      after_ms: null,
    });
    assert.equal((await deliver(newParcel('tls'), broken)).type, 'retry');
    await broken.close();
  });

  it('closing ends requests under way', async () => {
    const closed = openWebhook({ ops: { url: receiver.url, secret: SECRET } });
    let reached = false;
    receiver.answerNext(() => {
      reached = true;
    });
    const result = deliver(newParcel('ops'), closed);
    assert.ok(await eventually(() => reached));
    await closed.close();
    assert.match(errorOf(await result), /was stopped before it was answered/);
  });

  it('names the nearest endpoint, and all of them', () => {
    const many = openWebhook({
      ops: { url: 'https://example.org', secret: 's' },
      crm: { url: 'http://example.org', secret: 's' },
    });
    assert.equal(many.check('crm'), null);
    assert.equal(many.check('opz'), 'there is no webhook "opz"; did you mean "ops"? Configured: ops, crm');
    assert.equal(many.check(''), 'there is no webhook "". Configured: ops, crm');
    assert.equal(openWebhook({}).check('ops'), 'there is no webhook "ops", and none is configured');
  });

  for (const [what, url, secret] of [
    ['no url', 'example.org/hook', SECRET],
    ['another protocol', 'ftp://example.org/', SECRET],
    ['a user', 'https://alice@example.org/', SECRET],
    ['a password', `https://:${TOKEN}@example.org/`, SECRET],
    ['an empty secret', `https://example.org/?key=${TOKEN}`, ''],
    ['a secret that is no base64', `https://example.org/?key=${TOKEN}`, 'whsec_%%%'],
    ['nothing behind whsec_', `https://example.org/?key=${TOKEN}`, 'whsec_'],
  ] as const) {
    it(`refuses an endpoint with ${what}`, () => {
      assert.throws(
        () => openWebhook({ ops: { url, secret } }),
        (error) => {
          assert.ok(error instanceof CoppiceError);
          assert.equal(error.code, 'E_CONFIG');
          assert.match(error.message, /^the webhook "ops" has /);
          const text = `${error.message} ${error.hint}`;
          for (const hidden of [TOKEN, KEY, '%%%', 'alice']) assert.ok(!text.includes(hidden), text);
          return true;
        },
      );
    });
  }

  it('leaves no connection behind', async () => {
    await deliver();
    assert.ok(await eventually(() => receiver.connections() === 0), `${receiver.connections()} are open`);
  });
});
