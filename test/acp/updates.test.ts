/**
 * Proves which updates editors receive: streams that break and restart, conversations read from the ledger, calls and their changes, and an editor that does
 * not read.
 */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { ConversationFeed, StreamedText } from '../../src/acp/updates/conversation-feed.ts';
import {
  doneChange,
  intendedChange,
  resultView,
  toolCallView,
} from '../../src/acp/updates/tool-call-view.ts';
import { UpdateQueue } from '../../src/acp/updates/update-queue.ts';
import type { Message, PlacedMessage } from '../../src/records/conversation/message.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { agent } from '../tui/ui-fixture.ts';

describe('a streamed text', () => {
  const stream = () => {
    const sent: string[] = [];
    return { sent, text: new StreamedText((piece) => sent.push(piece)) };
  };

  test('is sent as it comes, and only what is missing of it at its end', () => {
    const { sent, text } = stream();
    text.add('Hel');
    text.add('lo');
    text.finish('Hello.');
    text.finish('Next.');
    assert.deepEqual(sent, ['Hel', 'lo', '.', 'Next.']);
  });

  test('that begins anew is not sent twice, as far as it is the same', () => {
    const { sent, text } = stream();
    text.add('Hello, wor');
    text.restart();
    text.add('Hello');
    text.add(', world');
    text.add('!');
    text.finish('Hello, world!');
    assert.equal(sent.join(''), 'Hello, world!');
  });

  test('that becomes another one says so', () => {
    const { sent, text } = stream();
    text.add('Yes');
    text.restart();
    text.add('N');
    text.add('o');
    text.finish('No');
    assert.equal(sent.join(''), 'Yes\n\n[The answer was interrupted and starts again.]\n\nNo');
  });

  test('that was given up leaves the next one alone', () => {
    const { sent, text } = stream();
    text.add('half an ans');
    text.forget();
    text.add('New.');
    text.finish('New.');
    assert.deepEqual(sent, ['half an ans', 'New.']);
  });
});

describe('a conversation', () => {
  const own = agent('child', 'main');
  const told = (history: readonly PlacedMessage[], shows = true) => {
    const updates: SessionUpdate[] = [];
    const feed = new ConversationFeed({
      agent: own,
      send: (update) => updates.push(update),
      isOwn: (text) => text === 'mine',
      tellsFailures: () => true,
      notices: true,
    });
    if (shows) feed.replay(history, false);
    else feed.skip(history, false);
    return { feed, updates };
  };
  let seq = 0;
  const placed = (message: Message, agent_id = own.id): PlacedMessage => ({
    ...message,
    agent_id,
    seq: ++seq,
    at: 0,
  });
  const said = (text: string, ...calls: readonly string[]): Message => ({
    kind: 'assistant',
    content: {
      model: 'm',
      parts: [
        { type: 'text', text },
        ...calls.map((id) => ({ type: 'call' as const, id, name: 'think', input: '{"thought":"x"}' })),
      ],
    },
  });
  const result = (call_id: string, output: string): Message => ({
    kind: 'result',
    content: { call_id, name: 'think', status: 'ok', output },
  });
  const kinds = (updates: readonly SessionUpdate[]) =>
    updates.map((update) =>
      'toolCallId' in update ? `${update.sessionUpdate} ${update.toolCallId}` : update.sessionUpdate,
    );

  test('from the ledger is told in order, and calls with the same id are answered in order', () => {
    seq = 0;
    const { updates } = told([
      placed({ kind: 'user', content: { origin: 'human', text: 'mine' } }),
      placed(said('Look.', 'a', 'a')),
      placed(result('a', 'one')),
      placed(result('a', 'two')),
      placed(said('Done.')),
    ]);
    assert.deepEqual(kinds(updates), [
      'user_message_chunk',
      'agent_message_chunk',
      'tool_call child-2-1',
      'tool_call child-2-2',
      'tool_call_update child-2-1',
      'tool_call_update child-2-2',
      'agent_message_chunk',
    ]);
  });

  test('has calls as they were read', () => {
    const read = { name: 'read', input: '{"path":"a.ts"}', changes: ['view → read'] };
    const call = { type: 'call' as const, id: 'a', name: 'view', input: '{"file":"a.ts"}', read };
    const { updates } = told([placed({ kind: 'assistant', content: { model: 'm', parts: [call] } })]);
    assert.deepEqual(
      updates.map((update) => update.sessionUpdate === 'tool_call' && [update.title, update.kind]),
      [['read a.ts', 'read']],
    );
  });

  test('of a fork ends the calls that were open where it was forked', () => {
    seq = 0;
    const { updates } = told([
      placed(said('I fork.', 'f'), 'main'),
      placed({ kind: 'user', content: { origin: 'identity', text: 'You are a child.' } }),
    ]);
    assert.deepEqual(kinds(updates), [
      'agent_message_chunk',
      'tool_call main-1-1',
      'tool_call_update main-1-1',
      'user_message_chunk',
    ]);
  });

  test('that is not told still knows its open calls, and nothing is told twice', () => {
    seq = 0;
    const history = [placed(said('Look.', 'a', 'b')), placed(result('a', 'one'))];
    const { feed, updates } = told(history, false);
    for (const message of history) feed.see(message);
    assert.deepEqual(updates, []);
    assert.equal(feed.callId('a'), null);
    assert.equal(feed.callId('b'), 'child-1-2');
    feed.see(placed(result('b', 'two')));
    assert.deepEqual(kinds(updates), ['tool_call_update child-1-2']);
  });

  test('that is joined in the middle of an answer gets it whole', () => {
    seq = 0;
    const updates: SessionUpdate[] = [];
    const options = { agent: own, isOwn: () => false, tellsFailures: () => false, notices: false };
    const feed = new ConversationFeed({ ...options, send: (update) => updates.push(update) });
    feed.replay([], true);
    feed.delta({ type: 'text', text: 'the end' });
    feed.see(placed(said('Not only the end')));
    feed.delta({ type: 'text', text: 'Next' });
    assert.deepEqual(
      updates.map((update) =>
        'content' in update && !Array.isArray(update.content) ? update.content : null,
      ),
      [
        { type: 'text', text: 'Not only the end' },
        { type: 'text', text: 'Next' },
      ],
    );
  });

  test('tells what was written elsewhere, asides as thoughts, notices as such, and no failure twice', () => {
    seq = 0;
    const { feed, updates } = told([]);
    feed.see(placed({ kind: 'user', content: { origin: 'human', text: 'mine' } }));
    feed.see(placed({ kind: 'user', content: { origin: 'human', text: 'of another terminal' } }));
    feed.see(placed({ kind: 'user', content: { origin: 'mail', text: 'a letter' } }));
    feed.see(placed({ kind: 'event', content: { event: 'notice', text: 'look at this' } }));
    feed.see(placed({ kind: 'event', content: { event: 'error', text: 'it failed' } }));
    feed.see(placed({ kind: 'capture', content: { text: 'for a child' } }));
    assert.deepEqual(kinds(updates), ['user_message_chunk', 'agent_thought_chunk', 'notice']);
  });

  test('shows the output of a running call by its end, and the result takes its place', async () => {
    seq = 0;
    const { feed, updates } = told([]);
    feed.see(placed(said('', 'a')));
    feed.output('a', 'x'.repeat(20_000));
    feed.output('a', 'the end');
    while (updates.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    const shown = JSON.stringify(updates[1]);
    assert.ok(shown.includes('the end') && shown.length < 9_000);
    feed.output('a', 'never shown');
    feed.see(placed(result('a', 'all of it')));
    feed.close();
    assert.deepEqual(kinds(updates).slice(1), ['tool_call_update child-1-1', 'tool_call_update child-1-1']);
  });
});

describe('a call', () => {
  test('has a title of one line, without what could deceive, a kind and a place', () => {
    const view = (name: string, input: object | string) =>
      toolCallView(name, typeof input === 'string' ? input : JSON.stringify(input), '/srv', true);
    assert.equal(view('bash', { command: 'a\u202e\nb' }).title, 'a …');
    assert.equal(view('bash', { command: 'x'.repeat(500) }).title, `${'x'.repeat(200)} …`);
    assert.equal(view('fork', { prompt: 'p', name: 'reader' }).title, 'fork reader');
    assert.deepEqual(view('read', { path: 'a.ts', offset: 7 }).locations, [{ path: '/srv/a.ts', line: 7 }]);
    assert.equal(view('cron', {}).kind, 'other');
    assert.equal(view('bash', 'not json').rawInput, 'not json');
  });

  test('that runs a command shows its output behind a fence that the output cannot close', () => {
    const { content } = resultView('bash', '{}', '/', { status: 'ok', output: '```\n````js\n' }, []);
    assert.deepEqual(content[0], {
      type: 'content',
      content: { type: 'text', text: '`````console\n```\n````js\n`````' },
    });
  });

  test('that changes a file shows the text before, if a person may see it there', () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'a.txt'), 'old');
    writeFileSync(join(cwd, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
    mkdirSync(join(cwd, 'folder'));
    symlinkSync('/etc/passwd', join(cwd, 'link'));
    const write = (path: string) => intendedChange('write', { path, content: 'new' }, cwd);
    assert.deepEqual(write('a.txt'), [
      { type: 'diff', path: join(cwd, 'a.txt'), oldText: 'old', newText: 'new' },
    ]);
    assert.deepEqual(write('new.txt'), [
      { type: 'diff', path: join(cwd, 'new.txt'), oldText: null, newText: 'new' },
    ]);
    for (const path of ['binary', 'folder', 'link', '/etc/passwd', '../x', ''])
      assert.deepEqual(write(path), [], path);
    const edits = [{ old_text: 'a', new_text: 'b' }, 'nonsense', { old_text: 1, new_text: 'b' }];
    assert.equal(intendedChange('patch', { path: 'a.txt', edits }, cwd).length, 1);
    assert.deepEqual(intendedChange('read', { path: 'a.txt' }, cwd), []);
  });

  test('that has changed one shows the text before only where the ledger keeps it', () => {
    const done = (before: string | null, base?: string) =>
      doneChange('write', { path: 'a', content: 'new' }, '/srv', {
        path: '/srv/a',
        hash: 'h',
        before,
        ...(base === undefined ? {} : { base }),
      }).map((change) => (change.type === 'diff' ? change.oldText : change));
    assert.deepEqual([done(null), done('x', 'old'), done('x')], [[null], ['old'], []]);
  });
});

describe('updates on their way', () => {
  const chunk = (text: string): SessionUpdate => ({
    sessionUpdate: 'agent_message_chunk',
    messageId: 'm',
    content: { type: 'text', text },
  });

  test('are written in order; what waits is joined', async () => {
    const written: string[] = [];
    const gate = Promise.withResolvers<void>();
    const queue = new UpdateQueue(async (id, update) => {
      written.push(`${id} ${'content' in update ? JSON.stringify(update.content) : JSON.stringify(update)}`);
      await gate.promise;
    }, assert.fail);
    queue.push('a', chunk('1'));
    await new Promise(setImmediate);
    for (const text of ['2', '3']) queue.push('a', chunk(text));
    queue.push('b', chunk('4'));
    queue.push('a', { sessionUpdate: 'plan', entries: [] });
    queue.push('a', {
      sessionUpdate: 'plan',
      entries: [{ content: 'x', priority: 'low', status: 'pending' }],
    });
    gate.resolve();
    await queue.flushed();
    assert.deepEqual(
      written.map((line) => line.replace(/^(.) .*"text":"(\d+)".*/, '$1$2').replace(/^a .*"x".*/, 'plan')),
      ['a1', 'a23', 'b4', 'plan'],
    );
  });

  test('that nobody reads are given up beyond a bound', () => {
    let full = 0;
    const queue = new UpdateQueue(
      () => new Promise(() => {}),
      () => {
        full += 1;
      },
    );
    for (let sent = 0; full === 0 && sent < 100; sent += 1) queue.push('a', chunk('x'.repeat(1_000_000)));
    assert.equal(full, 1);
  });
});
