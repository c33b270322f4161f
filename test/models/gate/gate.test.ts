// Proves that one gate limits, queues, delays and retries the requests of all agents, on a clock driven by hand.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Gate } from '../../../src/models/gate/gate.ts';
import type { Model, ModelDelta, ModelOutcome } from '../../../src/models/model.ts';
import { retryAfter } from '../../../src/models/refusals/retry-after.ts';
import { ask } from '../protocols.ts';

const OK: ModelOutcome = {
  type: 'answer',
  content: { model: 'm', parts: [{ type: 'text', text: 'hi' }] },
  usage: { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null },
  finish: 'stop',
};

function limited(retry_after_ms?: number): ModelOutcome {
  const failure = { kind: 'rate_limit' as const, error: 'slow down', retryable: true };
  return retry_after_ms === undefined
    ? { type: 'failure', failure }
    : { type: 'failure', failure, retry_after_ms };
}

/** A gate whose clock advances only when it sleeps. */
function handDriven({ concurrency: most = 8, ...options }: { concurrency?: number; attempts?: number } = {}) {
  let now = 0;
  const slept: number[] = [];
  const gate = new Gate({
    ...{ start: most, most, patience_ms: 0 },
    ...options,
    now: () => now,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      if (signal.aborted) return;
      slept.push(ms);
      now += ms;
    },
  });
  return { gate, slept, now: () => now };
}

function model(stream: Model['stream']): Model {
  return { id: 'm', context_window: null, tells_cost: true, stream };
}

it('a try that failed after minutes is followed by a pause that is long enough to be told', async () => {
  for (const [took_ms, least] of [
    [960_000, 2_000],
    [1_000, 250],
  ] as const) {
    let now = 0;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const gate = new Gate({ now: () => now, random: () => 0.5, sleep });
    const waits: number[] = [];
    let tries = 0;
    const outcome = await gate.stream(
      model(async () => {
        tries += 1;
        if (tries === 2) return OK;
        now += took_ms;
        const failure = { kind: 'network' as const, error: 'only signs of life', retryable: true };
        return { type: 'failure', failure };
      }),
      ask(),
      (delta) => {
        if (delta.type === 'waiting') waits.push(delta.delay_ms ?? 0);
      },
    );
    assert.equal(outcome.type, 'answer');
    assert.deepEqual(waits, [least]);
  }
});

it('a limited number at once, the others in order', async () => {
  const { gate } = handDriven({ concurrency: 2 });
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const one = (index: number) =>
    gate.stream(
      model(() => {
        started.push(index);
        return new Promise((resolve) => ends.push(() => resolve(OK)));
      }),
      ask(),
      () => undefined,
    );
  const all = [0, 1, 2, 3].map(one);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(started, [0, 1]);
  ends[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(started, [0, 1, 2]);
  ends[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  ends[2]?.();
  ends[3]?.();
  assert.deepEqual(
    (await Promise.all(all)).map((outcome) => outcome.type),
    Array(4).fill('answer'),
  );
});

it('who was aborted while it waited for a place is told nothing of what comes later, and the next gets the place', async () => {
  const { gate } = handDriven({ concurrency: 1, attempts: 2 });
  const first = Promise.withResolvers<ModelOutcome>();
  const outcomes = [first.promise, OK, OK];
  const deltas: Record<string, ModelDelta['type'][]> = {};
  const one = (name: string, signal: AbortSignal) => {
    const request = { ...ask(), signal };
    deltas[name] = [];
    return gate.stream(
      model(async () => outcomes.shift() as ModelOutcome),
      request,
      ({ type }) => deltas[name]?.push(type),
    );
  };
  const [leaves, stays] = [new AbortController(), new AbortController().signal];
  const began = one('first', stays);
  const left = one('left', leaves.signal);
  const last = one('last', stays);
  await new Promise((resolve) => setImmediate(resolve));
  leaves.abort();
  assert.equal((await left).type, 'aborted');
  const before = [...(deltas.left ?? [])];
  first.resolve(limited(10_000));
  assert.deepEqual([(await began).type, (await last).type], ['answer', 'answer']);
  assert.deepEqual(deltas.left, before);
});

it('trees take turns: one with many requests holds up another for one', async () => {
  const { gate } = handDriven({ concurrency: 1 });
  const answered: string[] = [];
  const requests = ['many', 'many', 'many', 'many', 'one', 'many'].map(async (tree) => {
    const request = { ...ask(), cache_key: tree };
    await gate.stream(
      model(async () => OK),
      request,
      () => undefined,
    );
    answered.push(tree);
  });
  await Promise.all(requests);
  assert.deepEqual(answered, ['many', 'many', 'one', 'many', 'many', 'many']);
});

it('a rate limit met by one holds its siblings, for as long as the provider asked', async () => {
  const { gate, now } = handDriven();
  let first = true;
  const limitedOnce = model(async () => {
    if (!first) return OK;
    first = false;
    return limited(10_000);
  });
  const deltas: ModelDelta[] = [];
  await gate.stream(limitedOnce, ask(), (delta) => deltas.push(delta));
  assert.ok(now() >= 10_000);
  const waits = deltas.filter((delta) => delta.type === 'waiting');
  assert.deepEqual(
    waits.map(({ reason }) => reason),
    ['the provider asked to slow down: 10 s, try 2 of 6 (slow down)'],
    'one wait is told once, with the seconds that were asked for',
  );
  const sibling = await gate.stream(
    model(async () => OK),
    ask(),
    () => undefined,
  );
  assert.equal(sibling.type, 'answer');
});

it('a sibling that comes while another was told to slow down does not ask before its time', async () => {
  let now = 0;
  const asleep: (() => void)[] = [];
  const gate = new Gate({
    now: () => now,
    random: () => 0,
    sleep: () => new Promise<void>((resolve) => asleep.push(resolve)),
  });
  const asked: string[] = [];
  const saying = (name: string, ...outcomes: ModelOutcome[]) =>
    gate.stream(
      model(async () => {
        asked.push(name);
        return outcomes.shift() ?? OK;
      }),
      ask(),
      () => undefined,
    );
  const refused = saying('refused', limited(10_000));
  await new Promise((resolve) => setImmediate(resolve));
  const sibling = saying('sibling');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(asked, ['refused']);
  now = 10_000;
  for (const wake of asleep) wake();
  assert.deepEqual(
    (await Promise.all([refused, sibling])).map((outcome) => outcome.type),
    ['answer', 'answer'],
  );
  assert.deepEqual(asked.toSorted(), ['refused', 'refused', 'sibling']);
});

it('the next in the queue is not sent in the moment between a refusal and the wait that it asks for', async () => {
  const { gate, now } = handDriven({ concurrency: 1 });
  const sent: string[] = [];
  const one = (name: string, ...outcomes: ModelOutcome[]) =>
    gate.stream(
      model(async () => {
        sent.push(`${name} at ${Math.floor(now() / 1_000)} s`);
        return outcomes.shift() ?? OK;
      }),
      ask(),
      () => undefined,
    );
  await Promise.all([one('refused', limited(10_000)), one('next')]);
  assert.deepEqual(sent.toSorted(), ['next at 10 s', 'refused at 0 s', 'refused at 10 s']);
});

it('gives up after the maximum number of tries, and says so', async () => {
  const { gate, slept } = handDriven({ attempts: 4 });
  const outcome = await gate.stream(
    model(async () => limited()),
    ask(),
    () => undefined,
  );
  assert.ok(outcome.type === 'failure' && /gave up after 4 tries/.test(outcome.failure.error));
  assert.equal(slept.length, 3);
});

it('does not silently wait an hour', async () => {
  const { gate, slept } = handDriven();
  const outcome = await gate.stream(
    model(async () => limited(3_600_000)),
    ask(),
    () => undefined,
  );
  assert.equal(outcome.type, 'failure');
  assert.deepEqual(slept, []);
});

it('what was shown of a broken stream is taken back before the next try', async () => {
  const { gate } = handDriven();
  let tries = 0;
  const flaky = model(async (_request, onDelta) => {
    tries += 1;
    onDelta({ type: 'text', text: `try ${tries}` });
    return tries === 1
      ? { type: 'failure', failure: { kind: 'network', error: 'cut', retryable: true } }
      : OK;
  });
  const deltas: ModelDelta[] = [];
  await gate.stream(flaky, ask(), (delta) => deltas.push(delta));
  assert.deepEqual(
    deltas.map((delta) => delta.type),
    ['text', 'restart', 'waiting', 'sent', 'text'],
  );
});

it('what each failed try has shown is taken back, not only the first', async () => {
  const { gate } = handDriven();
  let tries = 0;
  const shown: string[] = [];
  const flaky = model(async (_request, onDelta) => {
    tries += 1;
    // A try that shows nothing leaves nothing to take back.
    if (tries !== 2) onDelta({ type: 'text', text: `${tries}` });
    return tries < 4 ? { type: 'failure', failure: { kind: 'network', error: 'cut', retryable: true } } : OK;
  });
  await gate.stream(flaky, ask(), (delta) => shown.push(delta.type === 'text' ? delta.text : delta.type));
  assert.deepEqual(
    shown.filter((one) => one !== 'waiting' && one !== 'sent'),
    ['1', 'restart', '3', 'restart', '4'],
  );
});

it('of two rate limits at once the longer holds all, in whichever order they come', async () => {
  for (const waits of [
    [10_000, 1_000],
    [1_000, 10_000],
  ]) {
    const { gate, now } = handDriven();
    const release = Promise.withResolvers<void>();
    const refused = waits.map((ms) => {
      let first = true;
      const once = model(async () => {
        if (!first) return OK;
        first = false;
        await release.promise;
        return limited(ms);
      });
      return gate.stream(once, ask(), () => undefined);
    });
    release.resolve();
    await Promise.all(refused);
    assert.ok(now() >= 10_000, `${waits}`);
  }
});

it('an abort in the queue leaves it, and the place is not lost', async () => {
  const { gate } = handDriven({ concurrency: 1 });
  let end = (): void => undefined;
  const holding = gate.stream(
    model(
      () =>
        new Promise((resolve) => {
          end = () => resolve(OK);
        }),
    ),
    ask(),
    () => undefined,
  );
  const controller = new AbortController();
  const queued = gate.stream(
    model(async () => OK),
    ask({ signal: controller.signal }),
    () => undefined,
  );
  controller.abort();
  assert.equal((await queued).type, 'aborted');
  end();
  await holding;
  assert.equal(
    (
      await gate.stream(
        model(async () => OK),
        ask(),
        () => undefined,
      )
    ).type,
    'answer',
  );
});

/** A gate with one slot whose back-off ends only with an abort, until it is opened again. */
function sleepless() {
  let closed = true;
  const reopened: (() => void)[] = [];
  const gate = new Gate({
    ...{ start: 1, most: 1 },
    now: () => (closed ? 0 : 1e9),
    random: () => 0.5,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        reopened.push(() => resolve(true));
        if (!closed) resolve(true);
        signal.addEventListener('abort', resolve, { once: true });
      }),
  });
  const stream = (outcome: ModelOutcome, signal?: AbortSignal) =>
    gate.stream(
      model(async () => outcome),
      ask(signal === undefined ? {} : { signal }),
      () => undefined,
    );
  const reopen = () => {
    closed = false;
    for (const wake of reopened) wake();
  };
  return { stream, reopen };
}

for (const [what, outcome] of [
  ['the back-off of all', limited(10_000)],
  [
    'its own back-off',
    { type: 'failure', failure: { kind: 'network', error: 'cut', retryable: true } } as ModelOutcome,
  ],
] as const)
  it(`an abort in ${what} gives the slot back, each time`, async () => {
    const { stream, reopen } = sleepless();
    for (let round = 0; round < 3; round += 1) {
      const controller = new AbortController();
      const held = stream(outcome, controller.signal);
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      assert.equal((await held).type, 'aborted');
    }
    reopen();
    const others = [stream(OK), stream(OK)];
    await new Promise((resolve) => setImmediate(resolve));
    const all = await Promise.race([
      Promise.all(others),
      new Promise<null>((resolve) => setImmediate(resolve, null)),
    ]);
    assert.deepEqual(
      all?.map(({ type }) => type),
      ['answer', 'answer'],
      'the slot was lost',
    );
  });

it('an abort while a request is answered gives the slot back, too, whatever the model makes of it', async () => {
  const { gate } = handDriven({ concurrency: 1 });
  for (const outcome of [{ type: 'aborted' }, OK, limited(1)] as const) {
    const controller = new AbortController();
    const answered = gate.stream(
      model(async () => {
        controller.abort();
        return outcome;
      }),
      ask({ signal: controller.signal }),
      () => undefined,
    );
    assert.equal((await answered).type, outcome === OK ? 'answer' : 'aborted');
  }
  const next = gate.stream(
    model(async () => OK),
    ask(),
    () => undefined,
  );
  const late = new Promise<null>((resolve) => setTimeout(resolve, 50, null));
  assert.equal((await Promise.race([next, late]))?.type, 'answer', 'the slot was lost');
});

it('an abort of one of two requests in a back-off leaves the other its turn', async () => {
  const { stream, reopen } = sleepless();
  const [first, second] = [new AbortController(), new AbortController()];
  const [one, two] = [stream(limited(10_000), first.signal), stream(OK, second.signal)];
  await new Promise((resolve) => setImmediate(resolve));
  reopen();
  first.abort();
  assert.deepEqual(
    (await Promise.all([one, two])).map(({ type }) => type),
    ['aborted', 'answer'],
  );
});

it('reads every form of Retry-After', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  assert.equal(retryAfter({ 'retry-after': '3' }, now), 3000);
  assert.equal(retryAfter({ 'retry-after': 'Sat, 21 Nov 2026 10:00:05 GMT' }, now), 5000);
  assert.equal(retryAfter({ 'retry-after-ms': '250', 'retry-after': '9' }, now), 250);
  assert.equal(retryAfter({ 'retry-after': 'soon' }, now), null);
  assert.equal(retryAfter({}, now), null);
  for (const said of ['please try again in 1m 20s', 'Try Again In 1m20s.', 'RESETS IN 80s', 'AGAIN IN 80S'])
    assert.equal(retryAfter({}, now, said), 80_000, said);
});

it('a wait that nobody can mean is none, and one is a whole number: the ledger could keep neither', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  const far = ['1e30', '99999999999999999999', String(3 * 366 * 86_400), 'Sat, 21 Nov 2099 10:00:00 GMT'];
  for (const value of far) assert.equal(retryAfter({ 'retry-after': value }, now), null, value);
  assert.equal(retryAfter({ 'retry-after-ms': '1e300' }, now), null);
  for (const said of [
    '"retryDelay": "1e99s"',
    '"retryDelay": "99999999999999999s"',
    'try again in 99999999999999d',
  ])
    assert.equal(retryAfter({}, now, said), null, said);
  assert.equal(retryAfter({}, now, `"resets_in_seconds": ${'9'.repeat(400)}`), null);
  assert.equal(retryAfter({}, now, '"resets_at": 9999999999'), null);
  for (const [said, wait] of [
    ['"resets_at": 1795254000', null],
    ['try again at 2026-11-21 09:59', null],
    ['try again at 2026-11-21 10:00', null],
    ['try again at 2026-11-21 10:01', 60_000],
  ] as const)
    assert.equal(retryAfter({}, now, said), wait, said);
  assert.equal(retryAfter({ 'retry-after-ms': '400.5' }, now), 401);
  assert.equal(retryAfter({ 'retry-after': '300.0001' }, now), 300_001);
  assert.equal(retryAfter({ 'retry-after': String(30 * 86_400) }, now), 30 * 86_400_000);
});

it("Google's wait stands in the body, and is kept whatever its form", () => {
  const body = (retryDelay: unknown) =>
    JSON.stringify({
      error: {
        code: 429,
        details: [
          { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
        ],
      },
    });
  assert.equal(retryAfter({}, 0, body('26s')), 26_000);
  assert.equal(retryAfter({}, 0, body('58.217843437s')), 58_218);
  assert.equal(retryAfter({}, 0, `[${body('1s')}]`), 1000);
  assert.equal(retryAfter({ 'retry-after': '3' }, 0, body('26s')), 3000, 'a header goes first');
  for (const wrong of [body('soon'), body(26), body('-1s'), '{"error":{}}', 'null', 'not JSON'])
    assert.equal(retryAfter({}, 0, wrong), null, wrong);
});

it('who is held is told why: a server in trouble did not ask to slow down', async () => {
  for (const [kind, words] of [
    ['overloaded', 'the provider has trouble'],
    ['rate_limit', 'the provider asked to slow down'],
    ['network', 'the connection failed'],
  ] as const) {
    const { gate } = handDriven({ attempts: 2 });
    const failing: ModelOutcome = {
      type: 'failure',
      failure: { kind, error: '500: broken', retryable: true },
    };
    const seen: ModelDelta[] = [];
    await gate.stream(
      model(async () => failing),
      ask(),
      (delta) => seen.push(delta),
    );
    const waits = seen.flatMap((delta) => (delta.type === 'waiting' ? [delta.reason] : []));
    const exact = waits.every((text) =>
      new RegExp(`^${words}: \\d+ s, try 2 of 2 \\(500: broken\\)$`).test(text),
    );
    assert.ok(exact && waits.length > 0, waits.join('\n'));
  }
});

it('who is refused is told how long what the provider stated holds it, where that is longer than the pause', async () => {
  const { gate, now } = handDriven({ attempts: 2 });
  const told: string[] = [];
  const sent: number[] = [];
  const outcome = await gate.stream(
    model(async ({ onHeaders }) => {
      sent.push(now());
      if (sent.length > 1) return OK;
      const kind = 'x-ratelimit';
      onHeaders?.(429, {
        [`${kind}-limit-requests`]: '100',
        [`${kind}-remaining-requests`]: '0',
        [`${kind}-reset-requests`]: '1h2m3s',
      });
      return limited();
    }),
    ask(),
    (delta) => {
      if (delta.type === 'waiting') told.push(`${delta.reason} ${Math.round(delta.delay_ms ?? 0)}`);
    },
  );
  assert.equal(outcome.type, 'answer');
  const [, held_ms = 0] = sent;
  assert.ok(held_ms > 10_000, `${held_ms}`);
  const text = `the provider asked to slow down: ${Math.round(held_ms / 1000)} s, try 2 of 2 (slow down)`;
  assert.deepEqual(told, [`${text} ${Math.round(held_ms)}`]);
});

it('a failure that would be the same again is not asked for again', async () => {
  const { gate, slept } = handDriven();
  let asked = 0;
  const failure = { kind: 'network' as const, error: 'not a stream', retryable: false };
  const outcome = await gate.stream(
    model(async () => {
      asked += 1;
      return { type: 'failure', failure };
    }),
    ask(),
    () => undefined,
  );
  assert.deepEqual([outcome, asked, slept], [{ type: 'failure', failure }, 1, []]);
});

it('a server that still loads its model is waited for, for some minutes', async () => {
  const loading = { kind: 'overloaded' as const, error: '503: Loading model', retryable: true };
  const busy = { ...loading, error: '503: too much to do' };
  for (const [failure, refusals, end] of [
    [loading, 20, 'answer'],
    [loading, 1_000, 'failure'],
    [busy, 20, 'failure'],
  ] as const) {
    const { gate, now } = handDriven();
    let left: number = refusals;
    const server = model(async () => {
      left -= 1;
      return left < 0 ? OK : { type: 'failure', failure };
    });
    assert.equal((await gate.stream(server, ask(), () => undefined)).type, end);
    assert.ok(now() < 300_000, `after ${now()} ms`);
  }
});
