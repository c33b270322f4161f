// Proves that a process notices when the files of its SQLite ledger are taken away, by whatever way, and by itself: it accepts and answers nothing more, and
// what was accepted before is in a copy that is named.
// Own process: HOME is where a copy goes if its folder is away.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newRoot } from './ledger-fixture.ts';

const home = temporaryFolder();
process.env.HOME = home;
const opened: Store[] = [];
after(async () => {
  for (const store of opened.splice(0)) await store.close().catch(() => undefined);
});

/** A ledger with one tree that was written just now, in a folder of its own. */
async function ledger(file = join(temporaryFolder(), 'data', 'ledger.db')) {
  const store = await openStore(file);
  opened.push(store);
  const { id } = await newRoot(store);
  return { store, file, id };
}

const isGone = { code: 'E_DB_GONE', retryable: false };
const copyIn = ({ message }: Error) => / is in (\S+): /.exec(message)?.[1] ?? assert.fail(message);

/** Everything is refused once the timer has noticed; returns the reason. */
async function noticed(store: Store): Promise<Error> {
  if (!store.gone.aborted) await once(store.gone, 'abort');
  await assert.rejects(newRoot(store), isGone);
  await assert.rejects(store.workers(), isGone);
  await assert.rejects(store.now(), isGone);
  assert.throws(() => store.assertThere(), isGone);
  await assert.rejects(store.close(), isGone);
  return store.gone.reason;
}

async function holds(file: string, id: string): Promise<void> {
  const store = await openStore(file, { create: false });
  try {
    assert.equal((await store.agent(id))?.id, id);
  } finally {
    await store.close();
  }
}

type Way = readonly [what: string, take: (file: string) => void, told: RegExp];
const ways: readonly Way[] = [
  [
    'the file is deleted, with all that belongs to it',
    (file) => {
      for (const more of ['', '-wal', '-shm']) rmSync(file + more);
    },
    /ledger\.db was deleted or moved/,
  ],
  ['the file alone is deleted', (file) => rmSync(file), /ledger\.db was deleted or moved/],
  ['the file is moved', (file) => renameSync(file, `${file}.away`), /ledger\.db was deleted or moved/],
  [
    'another file takes its place',
    (file) => {
      copyFileSync(file, `${file}.other`);
      renameSync(`${file}.other`, file);
    },
    /ledger\.db was replaced/,
  ],
  [
    'its folder is moved',
    (file) => renameSync(join(file, '..'), `${join(file, '..')}.away`),
    /was deleted or moved/,
  ],
  ['its folder is removed', (file) => rmSync(join(file, '..'), { recursive: true }), /was deleted or moved/],
  [
    'only what was not written back yet is deleted (-wal)',
    (file) => rmSync(`${file}-wal`),
    /-wal was deleted/,
  ],
  ['only the index of that is deleted (-shm)', (file) => rmSync(`${file}-shm`), /-shm was deleted/],
  [
    '-wal is replaced',
    (file) => {
      rmSync(`${file}-wal`);
      writeFileSync(`${file}-wal`, '');
    },
    /-wal was replaced/,
  ],
];

describe('a ledger that is taken away', { concurrency: true }, () => {
  for (const [what, take, told] of ways)
    it(`${what}: noticed without a call, and the copy holds what was accepted`, async () => {
      const { store, file, id } = await ledger();
      take(file);
      const reason = await noticed(store);
      assert.match(reason.message, told);
      const copy = copyIn(reason);
      // Where the folder is away, the copy is in the home folder.
      assert.ok(copy.startsWith(existsSync(join(file, '..')) ? `${file}.rescued-` : home), copy);
      assert.equal(statSync(copy).mode & 0o777, 0o600);
      await holds(copy, id);
      assert.deepEqual(
        readdirSync(join(copy, '..')).filter((name) => /rescued.*-(wal|shm|journal)$/.test(name)),
        [],
      );
    });

  it('nothing is acknowledged in a file that was taken away just before', async () => {
    const { store, file } = await ledger();
    rmSync(file);
    await assert.rejects(newRoot(store), isGone);
  });

  it('a command that ends just then says so, too', async () => {
    const { store, file, id } = await ledger();
    rmSync(file);
    const error: Error = await store.close().then(
      () => assert.fail('closed'),
      (reason) => reason,
    );
    await holds(copyIn(error), id);
  });

  it('a link that leads to another file now is noticed; one that was followed from the start is not', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real', 'a.db'), '');
    symlinkSync('real/a.db', join(folder, 'link.db'));
    const { store, file, id } = await ledger(join(folder, 'link.db'));
    store.assertThere();
    rmSync(file);
    symlinkSync('real/b.db', file);
    await holds(copyIn(await noticed(store)), id);
  });

  it('a file that was emptied is noticed, and a copy that is not whole is not offered', async () => {
    const { store, file } = await ledger();
    await store.close();
    const again = await openStore(file);
    opened.push(again);
    truncateSync(file, 0);
    const { message } = await noticed(again);
    assert.match(message, /ledger\.db was emptied .* It cannot be copied \(.+\): restore a backup$/);
    assert.deepEqual(
      readdirSync(join(file, '..')).filter((name) => name.includes('rescued')),
      [],
    );
  });

  it('what others do to a ledger in use is no loss: readers, writers, backups, checkpoints, vacuum', async () => {
    const { store, file } = await ledger();
    const other = await openStore(file);
    await newRoot(other);
    await other.close();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(file);
    database.exec(`VACUUM; PRAGMA wal_checkpoint(TRUNCATE); VACUUM INTO '${file}.backup'`);
    database.close();
    store.assertThere();
    assert.equal((await store.agents({ roots: true })).length, 2);
    await store.close();
  });

  it('a file system that is unmounted takes no copy with it', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-test-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', 'none', folder], { stdio: 'ignore' });
    } catch {
      rmSync(folder, { recursive: true });
      return t.skip('nothing may be mounted here');
    }
    const { store, id } = await ledger(join(folder, 'ledger.db'));
    execFileSync('umount', ['-l', folder]);
    const copy = copyIn(await noticed(store));
    assert.ok(copy.startsWith(home), copy);
    await holds(copy, id);
    rmSync(folder, { recursive: true });
  });
});
