import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;
/** Time without growth after which a last line without a newline counts as cut off; until then another process may still be writing it. */
const SETTLE_MS = 50;
const SETTLE_READS = 5;

/**
 * Appends a text that ends with a newline, in one write so that the texts of several processes do not mix, and waits until it is on disk. First
 * terminates a last line that a crash cut off. Creates the file (mode 0600), but no folder. Rejects with the system's error.
 */
export async function appendWhole(path: string, text: string): Promise<void> {
  // O_NONBLOCK: opening a pipe that nobody reads would block.
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | (O_NONBLOCK ?? 0), 0o600);
  try {
    if ((await file.stat()).isFIFO()) throw failure('EPIPE', 'a pipe does not store what is written');
    const { cut, fresh } = await lastLine(file);
    const bytes = Buffer.from(cut ? `\n${text}` : text, 'utf8');
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, null);
    // The next try terminates the incomplete line.
    if (bytesWritten < bytes.length) throw failure('ENOSPC', 'only a part was written');
    await flush(file);
    if (fresh) await flushFolder(dirname(path));
  } finally {
    await file.close();
  }
}

async function lastLine(file: FileHandle): Promise<{ readonly cut: boolean; readonly fresh: boolean }> {
  let before = -1;
  for (let reads = 0; reads < SETTLE_READS; reads += 1) {
    const { size } = await file.stat();
    if (size === 0) return { cut: false, fresh: true };
    if (size === before) break;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    if (bytesRead === 0 || buffer[0] === NEWLINE) return { cut: false, fresh: false };
    before = size;
    await sleep(SETTLE_MS);
  }
  return { cut: true, fresh: false };
}

/** Syncs the file; ignores the errors of devices, which cannot be synced. */
async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  }
}

/** Syncs the folder, so that the entry of a new file survives a power failure. Best effort: not every system supports it. */
async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY);
    await handle.sync().finally(() => handle.close());
  } catch {
    // The text itself is on disk.
  }
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
