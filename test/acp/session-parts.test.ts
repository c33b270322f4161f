/** Proves the parts of a session that decide without side effects: prompts, settings, plans, answers, the end of a turn, errors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestError, type RequestPermissionOutcome, type SessionUpdate } from '@agentclientprotocol/sdk';
import { failureError, protocolError } from '../../src/acp/protocol-error.ts';
import { planEntries, stopReasonOf } from '../../src/acp/session/editor-session.ts';
import { answerOf, askContent, permissionOptions } from '../../src/acp/session/permission-options.ts';
import { CANCEL_MS, PermissionRequests } from '../../src/acp/session/permission-requests.ts';
import { promptContent } from '../../src/acp/session/prompt-content.ts';
import { configOptions, readChange, readMode } from '../../src/acp/session/session-settings.ts';
import { descendantsOf } from '../../src/records/agent/agent.ts';
import type { FailureKind } from '../../src/records/agent/failure.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { shownDigest } from '../../src/store/approvals/shown-digest.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { openAsk as ask } from '../store/ledger-fixture.ts';
import { agent, THINKING } from '../tui/ui-fixture.ts';
import { until } from '../until.ts';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

test('a prompt is its text, its links, what it embeds, and its pictures', async () => {
  const { text, images } = await promptContent([
    { type: 'text', text: 'Compare ' },
    { type: 'resource_link', name: 'b.ts', uri: 'file:///w/a%20b.ts#L7' },
    { type: 'text', text: ' and ' },
    { type: 'resource_link', name: 'The page', uri: 'https://example.org/x' },
    { type: 'image', mimeType: 'image/png', data: PNG },
    { type: 'resource', resource: { uri: 'file:///w/c.ts', text: 'let c;' } },
    { type: 'resource', resource: { uri: 'file:///w/d.png', mimeType: 'image/png', blob: PNG } },
  ]);
  assert.match(text, /^Compare b\.ts \(\/w\/a b\.ts:7\) and The page \(https:\/\/example\.org\/x\)\n\n/);
  assert.match(text, /attached \/w\/c\.ts\nlet c;\n/);
  assert.equal(images?.length, 2);
  assert.equal(
    (await promptContent([{ type: 'image', mimeType: 'image/png', data: PNG }])).text,
    'Look at this.',
  );
});

test('a prompt with what cannot be passed on is refused, by its place', async () => {
  const refused = (block: object, says: RegExp) =>
    assert.rejects(promptContent([{ type: 'text', text: 'x' }, block as never]), says);
  await refused({ type: 'audio', mimeType: 'audio/wav', data: '' }, /prompt\[1\]: audio is not supported/);
  await refused({ type: 'image', mimeType: 'image/png', data: 'AAAA' }, /prompt\[1\]/);
  const blob = { uri: 'x', blob: 'AAAA', mimeType: 'application/zip' };
  await refused({ type: 'resource', resource: blob }, /prompt\[1\]: application\/zip cannot be read/);
  await assert.rejects(promptContent([{ type: 'text', text: ' \n' }]), /it is empty/);
});

test('settings are listed with what is in use, and thinking only before the first prompt', () => {
  const models = [{ name: 'a/b', note: 'known' }];
  const options = (model: string, thinking: 'low' | null) =>
    configOptions({ model, mode: 'ask', thinking }, models).map(({ id, ...one }) => [
      id,
      'options' in one ? one.options.length : 0,
    ]);
  assert.deepEqual(options('a/b', 'low'), [
    ['mode', 3],
    ['model', 1],
    ['thinking', 4],
  ]);
  assert.deepEqual(options('c/d', null), [
    ['mode', 3],
    ['model', 2],
  ]);
  const settings = { model: 'a/b', mode: 'ask' as const, thinking: 'off' as const };
  assert.deepEqual(readChange('model', 'x/y', settings), { model: 'x/y' });
  assert.deepEqual(readChange('thinking', 'high', settings), { thinking: 'high' });
  assert.throws(() => readChange('model', '', settings), /missing/);
  assert.throws(() => readChange('mode', true, settings), /one of its options/);
  assert.throws(() => readChange('thinking', 'low', { ...settings, thinking: null }), /fixed/);
  assert.throws(() => readMode('constructor'), /unknown value "constructor"/);
});

test('a plan has the agents below one, in order of creation, and counts those beyond', () => {
  const all = [
    agent('main', null, { created_at: 1 }),
    agent('late', 'main', { created_at: 9, reply: 'All good.\nAnd more.' }),
    agent('early', 'main', { created_at: 2, state: THINKING, doing: 'read a.ts' }),
    agent('grand', 'early', { created_at: 3, state: { type: 'killed', by: 'you' } }),
    agent('other', null, { created_at: 4 }),
  ];
  assert.deepEqual(
    planEntries(descendantsOf('main', all)).map(({ content, status }) => [content, status]),
    [
      ['early: read a.ts', 'in_progress'],
      ['grand: stopped: killed by you', 'completed'],
      ['late: All good.', 'completed'],
    ],
  );
  assert.deepEqual(
    descendantsOf('early', all).map(({ id }) => id),
    ['grand'],
  );
  const many = Array.from({ length: 100 }, (_, index) => agent(`a${index}`, 'main', { state: THINKING }));
  const entries = planEntries(many);
  assert.equal(entries.length, 61);
  assert.deepEqual(entries.at(-1), {
    content: 'and 40 more agents',
    priority: 'medium',
    status: 'in_progress',
  });
});

describe('a permission request', () => {
  test('offers once, the proposed rule for the tree or the folder, and no', () => {
    const status = ask({ tool: 'bash', subject: 'git status', subject_kind: 'command' });
    assert.deepEqual(
      permissionOptions(status).map(({ optionId }) => optionId),
      ['once', 'session', 'always', 'deny'],
    );
    assert.deepEqual(answerOf(status, 'always'), {
      verdict: 'allow',
      scope: 'always',
      rule: 'bash:git status *',
      note: '',
    });
    assert.equal(answerOf(status, 'deny')?.verdict, 'deny');
    assert.equal(answerOf(status, 'yes please'), null);
  });

  test('offers no rule where one would allow everything', () => {
    const python = ask({ tool: 'bash', subject: 'python3 x.py', subject_kind: 'command' });
    assert.deepEqual(
      permissionOptions(python).map(({ optionId }) => optionId),
      ['once', 'deny'],
    );
    assert.equal(answerOf(python, 'session'), null);
  });

  test('hides nothing of the call', () => {
    const sly = ask({
      tool: 'bash',
      subject: 'x',
      subject_kind: 'command',
      input: JSON.stringify({ command: 'ls\u200b -l' }),
    });
    assert.match(JSON.stringify(askContent(sly)), /u\{200b\}/);
  });
});

test('an editor is sent the whole of a long command, and the raw input of a longer one', () => {
  const bash = (command: string) =>
    ask({ tool: 'bash', subject: command, input: JSON.stringify({ command }) });
  const command = `echo ${'x'.repeat(15_000)}; touch in-the-middle; echo ${'y'.repeat(15_000)}`;
  assert.ok(JSON.stringify(askContent(bash(command))).includes(command));
  const huge = JSON.stringify(askContent(bash(command.repeat(3))));
  assert.match(huge, /\[… \d+ characters …\]/);
  assert.match(huge, /whole: raw input, or coppice approvals show/);
});

describe('open approvals', () => {
  const stage = (outcome: RequestPermissionOutcome | null) => {
    const open = [ask({ id: 'q', agent_id: 'main', tool: 'bash', subject: 'ls', subject_kind: 'command' })];
    const answers: string[] = [];
    const updates: SessionUpdate[] = [];
    const signals: AbortSignal[] = [];
    const requests = new PermissionRequests({
      root_id: 'main',
      store: { asks: async () => [...open] },
      runtime: {
        answer: async (id, { verdict, shown }) => {
          // An answer carries the digest of what the editor was sent.
          if (open[0] !== undefined) assert.equal(shown, shownDigest(open[0]));
          answers.push(`${id} ${verdict}`);
          open.length = 0;
        },
      },
      sessionFor: (id) => ({ id, send: (update) => updates.push(update), callId: () => 'call-1' }),
      request: (_, signal) => {
        signals.push(signal);
        return outcome === null ? new Promise(() => {}) : Promise.resolve({ outcome });
      },
      log: assert.fail,
    });
    requests.refresh();
    return { requests, open, answers, updates, signals };
  };
  test('are asked once, and an answer reaches the ledger', async () => {
    const { requests, answers, signals } = stage({ outcome: 'selected', optionId: 'once' });
    requests.refresh();
    await until(() => answers.length > 0);
    assert.deepEqual([answers, signals.length], [['q allow'], 1]);
  });

  test('that are gone from the ledger are withdrawn', async () => {
    const { requests, open, signals, updates } = stage(null);
    await until(() => signals.length === 1);
    open.length = 0;
    requests.refresh();
    await until(() => signals[0]?.aborted === true);
    assert.equal(updates.at(-1)?.sessionUpdate, 'tool_call_update');
  });

  test('that are put away because of a cancel are not answered, in whatever order the two come', async () => {
    const { requests, answers, signals } = stage({ outcome: 'cancelled' });
    // Turns of the loop, not time: a timer of ours could come after the product's.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(signals.length, 1);
    requests.withdraw(new Set(['main']));
    await new Promise((resolve) => setTimeout(resolve, 2 * CANCEL_MS));
    assert.deepEqual(answers, []);
  });

  test('that are only put away are denied', async () => {
    const { answers } = stage({ outcome: 'cancelled' });
    await until(() => answers.length > 0);
    assert.deepEqual(answers, ['q deny']);
  });

  test('are asked again if the ledger did not take the answer', async () => {
    const told: string[] = [];
    const answers: string[] = [];
    const open = [ask({ id: 'q', agent_id: 'main' })];
    let requested = 0;
    const requests = new PermissionRequests({
      root_id: 'main',
      store: { asks: async () => [...open] },
      runtime: {
        answer: async (id, { verdict }) => {
          if (requested === 1) throw new StoreError('E_DB_UNAVAILABLE', 'no connection');
          answers.push(`${id} ${verdict}`);
          open.length = 0;
        },
      },
      sessionFor: (id) => ({ id, send: () => undefined, callId: () => null }),
      request: async () => {
        requested += 1;
        return { outcome: { outcome: 'selected', optionId: 'once' } };
      },
      log: (line) => told.push(line),
    });
    requests.refresh();
    await until(() => answers.length > 0);
    assert.deepEqual([answers, requested, told.length], [['q allow'], 2, 1]);
    assert.match(told[0] ?? '', /was not recorded; it is asked again: no connection/);
  });

  test('with an option that there is not are denied, and the log says so', async () => {
    const told: string[] = [];
    const answers: string[] = [];
    const requests = new PermissionRequests({
      root_id: 'main',
      store: { asks: async () => [ask({ id: 'q', agent_id: 'main' })] },
      runtime: { answer: async (_, { verdict }) => void answers.push(verdict) },
      sessionFor: (id) => ({ id, send: () => undefined, callId: () => null }),
      request: async () => ({ outcome: { outcome: 'selected', optionId: 'allow-everything' } }),
      log: (line) => told.push(line),
    });
    requests.refresh();
    await until(() => answers.length > 0);
    assert.deepEqual(answers, ['deny']);
    assert.match(told[0] ?? '', /an unknown option/);
  });
});

test('a turn ends for the reason that the protocol has, or as an error', () => {
  const failed = (kind: FailureKind) =>
    agent('a', null, { state: { type: 'errored', failure: { kind, error: 'why', retryable: true } } });
  assert.equal(stopReasonOf(agent('a', null), false), 'end_turn');
  assert.equal(stopReasonOf(agent('a', null), true), 'cancelled');
  assert.equal(
    stopReasonOf(agent('a', null, { state: { type: 'idle', limit: '100 turns' } }), false),
    'max_turn_requests',
  );
  assert.equal(stopReasonOf(failed('refused'), false), 'refusal');
  assert.equal(stopReasonOf(failed('cut'), false), 'max_tokens');
  assert.throws(
    () => stopReasonOf(failed('network'), false),
    (error) => error instanceof RequestError && error.code === -32603,
  );
  const told = { outcome: 'failed', outcome_text: 'failed: auth: no' } as const;
  assert.equal(failureError({ kind: 'auth', error: 'no', retryable: false }, told).code, -32000);
});

test('errors have the codes of the protocol, and say what to do', () => {
  const codeOf = (error: unknown) => protocolError(error).code;
  assert.equal(codeOf(new CoppiceError('E_NO_KEY', 'x')), -32000);
  assert.equal(codeOf(new CoppiceError('E_NO_FOLDER', 'x')), -32602);
  assert.equal(codeOf(new CoppiceError('E_CLOSED', 'x')), -32603);
  assert.equal(codeOf(new StoreError('E_DB_BUSY', 'x')), -32603);
  assert.equal(codeOf(new RequestError(-32002, 'x')), -32002);
  assert.equal(codeOf('x'), -32603);
  assert.equal(protocolError(new CoppiceError('E_USAGE', 'what', { hint: 'next' })).message, 'what\nnext');
});
