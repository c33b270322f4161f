// Proves that standard output keeps the channel contract: no terminal control sequences get through, a stalled stream is waited for, and a closed stream fails
// permanently.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { openStdout, type StdoutWrite } from '../../src/channels/stdout-channel.ts';
import { cleanLines } from '../../src/render/clean.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { channelContract, type Fault } from './contract.ts';
import { errorOf, newContext, newParcel } from './parcel-fixture.ts';

function sectionsOf(text: string): { readonly id: string; readonly text: string }[] {
  const [, ...parts] = text.split(/^-- \d{4}-\d\d-\d\dT[\d:.]+Z (.*)$/m);
  return Array.from({ length: parts.length / 2 }, (_, n) => ({
    id: parts[2 * n] as string,
    text: (parts[2 * n + 1] as string).slice(1, -2),
  }));
}

channelContract('stdout', async () => {
  let printed = '';
  let fault: Fault | null = null;
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      printed += text;
      setImmediate(done);
    },
  });
  const write: StdoutWrite = (text, done) => {
    const now = fault;
    fault = null;
    if (now === 'refuse') return done(Object.assign(new Error('closed'), { code: 'EPIPE' }));
    if (now === 'down') return done(Object.assign(new Error('not now'), { code: 'EAGAIN' }));
    // The stream stalls until the test has noticed, and accepts the text later.
    if (now === 'hang') return setTimeout(() => stream.write(text, done), 600);
    return stream.write(text, done);
  };
  return {
    channel: openStdout(write),
    good_address: '',
    bad_address: 'somewhere',
    secrets: [],
    shown: cleanLines,
    received: async () => sectionsOf(printed),
    failNext: (kind) => {
      fault = kind;
    },
    close: async () => void stream.destroy(),
  };
}, ['refuse', 'down', 'hang']);

/** A stream that accepts a text only when the test says so. */
function slowStream() {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const write: StdoutWrite = (text, done) => {
    written.push(text);
    waiting.push(() => done());
  };
  return { written, write, take: () => waiting.shift()?.() };
}

/** A program that prints to its standard output, and reports the results on standard error. */
const PROGRAM = `
  import { once } from 'node:events';
  const { openStdout } = await import(process.env.CHANNEL);
  process.stdout.on('error', () => {});
  await once(process.stdin.resume(), 'end');
  const channel = openStdout((text, done) => process.stdout.write(text, done));
  const parcel = { id: 'reply-1', address: '', text: process.env.TEXT.repeat(Number(process.env.TIMES)), created_at: 0 };
  process.stderr.write('writing\\n');
  const result = await channel.deliver(parcel, { signal: new AbortController().signal });
  process.stderr.write(JSON.stringify(result));
`;

function startProgram(times: number) {
  const env = {
    ...process.env,
    CHANNEL: new URL('../../src/channels/stdout-channel.ts', import.meta.url).href,
    TEXT: 'a line of text\n',
    TIMES: String(times),
  };
  return spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: 'pipe', env });
}

describe('stdout', () => {
  it('prints a heading, the text without terminal control sequences, and an empty line', async () => {
    const { written, write, take } = slowStream();
    const text = '\u001b[2Jred \u001b[31malert\u001b[0m\u202e\n\u0007second line';
    const parcel = newParcel('', { id: 'run-1-0\u001b[2J', text });
    const result = openStdout(write).deliver(parcel, newContext());
    take();
    assert.deepEqual(await result, { type: 'delivered' });
    assert.deepEqual(written, ['-- 2026-11-21T02:31:22.250Z run-1-0\nred alert\nsecond line\n\n']);
  });

  it('gives a stalled stream one text, and does not print again what it took late', async () => {
    const { written, write, take } = slowStream();
    const channel = openStdout(write, { time_limit_ms: 50 });
    const [first, second] = [newParcel('', { text: 'first' }), newParcel('', { text: 'second' })];
    for (const parcel of [first, first, second])
      assert.equal((await channel.deliver(parcel, newContext())).type, 'retry');
    assert.equal(written.length, 1);
    take();
    assert.deepEqual(await channel.deliver(first, newContext()), { type: 'delivered' });
    assert.equal(written.length, 1);
    const result = channel.deliver(second, newContext());
    take();
    assert.deepEqual(await result, { type: 'delivered' });
    assert.equal(written.length, 2);
  });

  it('survives a stream that throws', async () => {
    const channel = openStdout(() => {
      throw Object.assign(new Error('gone'), { code: 'ERR_STREAM_DESTROYED' });
    });
    const result = await channel.deliver(newParcel(''), newContext());
    assert.equal(result.type, 'failed');
    assert.match(errorOf(result), /ERR_STREAM_DESTROYED/);
  });

  it('ends when the reader of a real pipe is gone', async () => {
    const child = startProgram(10_000);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.end();
    await once(child, 'close');
    assert.deepEqual(JSON.parse(said.replace('writing\n', '')), {
      type: 'failed',
      error: 'the reader closed standard output (EPIPE)',
    });
  });

  it('waits until a real reader has taken all of it', async () => {
    const child = startProgram(100_000);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin.end();
    assert.ok(await eventually(() => said.includes('writing')));
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(said, 'writing\n', 'a pipe holds less than that');
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    assert.ok(await eventually(() => said.endsWith('}')), said);
    assert.match(said, /\{"type":"delivered"\}$/);
    const printed = Buffer.concat(chunks).toString();
    assert.equal(printed.match(/a line of text/g)?.length, 100_000);
  });
});
