// Proves that a file keeps the channel contract, that processes appending at the same time do not mix their lines, and that a line cut off by a crash costs no
// later line.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Channel } from '../../src/channels/channel.ts';
import { fileFailure, openFile } from '../../src/channels/file/file-channel.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type ChannelUnderTest, channelContract, type Fault } from './contract.ts';
import { errorOf, newContext, newParcel } from './parcel-fixture.ts';

const MODE = 0o777;
/** A device that is always full. */
const FULL = '/dev/full';

function makeFolder(): string {
  return temporaryFolder();
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function linesOf(path: string): { readonly id: string; readonly text: string }[] {
  return read(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { id: string; text: string });
}

function sectionsOf(path: string): { readonly id: string; readonly text: string }[] {
  const [, ...parts] = read(path).split(/^## \d{4}-\d\d-\d\dT[\d:.]+Z · (.*)$/m);
  return Array.from({ length: parts.length / 2 }, (_, n) => ({
    id: parts[2 * n] as string,
    text: (parts[2 * n + 1] as string).slice(2, -2),
  }));
}

/** Simulates a fault of the file system during the next delivery. */
function withFaults(channel: Channel, path: string): Pick<ChannelUnderTest, 'channel' | 'failNext'> {
  let fault: Fault | null = null;
  const away = `${path}.away`;
  const folder = dirname(path);
  return {
    channel: {
      ...channel,
      deliver: async (parcel, context) => {
        const now = fault;
        fault = null;
        if (now === null) return channel.deliver(parcel, context);
        if (now === 'refuse') renameSync(folder, `${folder}-away`);
        else renameSync(path, away);
        if (now === 'down') symlinkSync(FULL, path);
        try {
          return await channel.deliver(parcel, context);
        } finally {
          if (now === 'down') rmSync(path);
          if (now === 'refuse') renameSync(`${folder}-away`, folder);
          else renameSync(away, path);
        }
      },
    },
    failNext: (kind) => {
      fault = kind;
    },
  };
}

for (const [format, file, received] of [
  ['lines of JSON', 'out.jsonl', linesOf],
  ['Markdown', 'out.md', sectionsOf],
] as const) {
  channelContract(
    `file, ${format}`,
    async () => {
      const folder = makeFolder();
      const path = join(folder, file);
      return {
        ...withFaults(openFile({ log: path }), path),
        good_address: 'log',
        bad_address: 'lag',
        secrets: [],
        received: async () => received(path),
        close: async () => rmSync(folder, { recursive: true, force: true }),
      };
    },
    existsSync(FULL) ? ['refuse', 'down'] : ['refuse'],
  );
}

describe('file', () => {
  let folder: string;
  before(() => {
    folder = makeFolder();
  });
  const deliver = (path: string, text = 'hello', files = {}) =>
    openFile(files).deliver(newParcel(path, { text }), newContext());

  it('whatever the case of its ending, a file of JSON lines gets them', async () => {
    for (const name of ['a.JSONL', 'b.NdJson']) {
      const path = join(folder, name);
      for (const text of ['one', 'two']) assert.deepEqual(await deliver(path, text), { type: 'delivered' });
      const texts = linesOf(path).length;
      assert.equal(texts, 2, readFileSync(path, 'utf8'));
    }
  });

  it('takes names and absolute paths, and nothing else', () => {
    const channel = openFile({ log: join(folder, 'a.md') });
    for (const good of ['log', join(folder, 'b.jsonl')]) assert.equal(channel.check(good), null, good);
    for (const bad of ['', 'a.md', './a.md', `${folder}/`, `${folder}/a\0b`])
      assert.match(channel.check(bad) ?? '', /^there is no file "/, bad);
    assert.match(channel.check('lag') ?? '', /did you mean "log"\?/);
    assert.throws(
      () => openFile({ log: 'relative.md' }),
      (error) => error instanceof CoppiceError && error.code === 'E_CONFIG',
    );
  });

  it('writes a section of Markdown: time, id, text, an empty line', async () => {
    const path = join(folder, 'section.md');
    const parcel = newParcel(path, { text: 'first\n\n- second' });
    assert.deepEqual(await openFile({}).deliver(parcel, newContext()), { type: 'delivered' });
    assert.equal(read(path), `## 2026-11-21T02:31:22.250Z · ${parcel.id}\n\nfirst\n\n- second\n\n`);
  });

  it('creates a file for its owner only, and keeps the mode of an existing one', async () => {
    const made = join(folder, 'made.md');
    await deliver(made);
    assert.equal(statSync(made).mode & MODE, 0o600);
    const found = join(folder, 'found.md');
    writeFileSync(found, 'before\n');
    chmodSync(found, 0o644);
    await deliver(found);
    assert.equal(statSync(found).mode & MODE, 0o644);
    assert.match(read(found), /^before\n## /);
  });

  it('first ends a line that a crash has cut off', async () => {
    const lines = join(folder, 'cut.jsonl');
    await deliver(lines, 'whole');
    writeFileSync(lines, `${read(lines)}{"schema":"coppice/deli`);
    await deliver(lines, 'after it');
    const found = read(lines).split('\n');
    assert.equal(found[1], '{"schema":"coppice/deli');
    assert.equal((JSON.parse(found[2] as string) as { text: string }).text, 'after it');
    assert.deepEqual([found.length, found[3]], [4, '']);
    const markdown = join(folder, 'cut.md');
    writeFileSync(markdown, 'a line without an en');
    await deliver(markdown);
    assert.match(read(markdown), /^a line without an en\n## /);
  });

  it('fails permanently where no retry helps, and creates no folder', async () => {
    const missing = join(folder, 'missing', 'a.md');
    const result = await deliver(missing);
    assert.equal(result.type, 'failed');
    assert.equal(
      errorOf(result),
      `${missing} is in a folder that does not exist: create the folder (ENOENT)`,
    );
    assert.ok(!existsSync(join(folder, 'missing')));
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    assert.match(errorOf(await deliver(inner)), /is a folder: name a file in it \(EISDIR\)$/);
    writeFileSync(join(folder, 'plain'), '');
    assert.equal((await deliver(join(folder, 'plain', 'a.md'))).type, 'failed');
    assert.equal((await deliver(join(folder, `${'long'.repeat(200)}.md`))).type, 'failed');
  });

  it('does not wait for a pipe that nobody reads', { skip: process.platform === 'win32' }, async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const result = await deliver(pipe);
    assert.equal(result.type, 'failed', JSON.stringify(result));
    assert.match(errorOf(result), /is a pipe/);
  });

  it('tries again when the disk is full', { skip: !existsSync(FULL) }, async () => {
    const result = await deliver(FULL);
    assert.deepEqual(result, {
      type: 'retry',
      error: '/dev/full cannot be written now (ENOSPC)',
      after_ms: null,
    });
  });

  it('tells transient failures from permanent ones', () => {
    const typeOf = (code: string) => fileFailure('/a', Object.assign(new Error(code), { code })).type;
    for (const code of ['ENOSPC', 'EIO', 'EBUSY', 'EDQUOT', 'EMFILE', 'ESTALE', 'EUNHEARDOF'])
      assert.equal(typeOf(code), 'retry', code);
    for (const code of ['EACCES', 'EPERM', 'EISDIR', 'ENOENT', 'ENOTDIR', 'EROFS'])
      assert.equal(typeOf(code), 'failed', code);
  });

  it('four processes append to one file: every line is there, whole and exactly once', async () => {
    const path = join(folder, 'shared.jsonl');
    const [writers, count] = [['a', 'b', 'c', 'd'], 40];
    const program = join(import.meta.dirname, 'append-many.ts');
    const children = writers.map((writer) =>
      spawn(process.execPath, [program, path, writer, String(count)], { stdio: 'pipe' }),
    );
    // All writers are ready before the first one starts.
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    const ends = children.map(async (child) => {
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      child.stdin.end();
      child.stdout.resume();
      const [code] = (await once(child, 'close')) as [number];
      assert.equal(code, 0, said);
    });
    await Promise.all(ends);
    const lines = linesOf(path);
    const expected = writers.flatMap((writer) => Array.from({ length: count }, (_, n) => `${writer}-${n}`));
    assert.deepEqual(lines.map(({ id }) => id).sort(), expected.sort());
    for (const { id, text } of lines) {
      const number = Number(id.split('-')[1]);
      assert.equal(text, `${id} `.repeat(1 + ((number * 733) % 9_000)).trim(), id);
    }
    const order = lines.map(({ id }) => id[0]);
    assert.ok(order.join('') !== [...order].sort().join(''), 'they wrote at the same time');
  });
});
