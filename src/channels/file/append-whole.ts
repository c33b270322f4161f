import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;
/** So long a last line without its end stands still before it counts as cut: another process may be writing it right now. */
const SETTLE_MS = 50;
const SETTLE_LOOKS = 5;

/**
 * Appends a text that ends with a newline, by one write, and waits until it is on the disk: texts of several processes do not mix. A last
 * line that a crash has cut is ended first; two who end it at once leave an empty line. Makes the file (mode 0600) and no folder. Rejects with
 * what the system said.
 */
export async function appendWhole(path: string, text: string): Promise<void> {
  // Without O_NONBLOCK a pipe that nobody reads would be waited for.
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | (O_NONBLOCK ?? 0), 0o600);
  try {
    if ((await file.stat()).isFIFO()) throw failure('EPIPE', 'a pipe keeps nothing');
    const { cut, fresh } = await lastLine(file);
    const bytes = Buffer.from(cut ? `\n${text}` : text, 'utf8');
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, null);
    // What is there of it is a cut line, which the next try ends.
    if (bytesWritten < bytes.length) throw failure('ENOSPC', 'only a part was written');
    await flush(file);
    if (fresh) await flushFolder(dirname(path));
  } finally {
    await file.close();
  }
}

async function lastLine(file: FileHandle): Promise<{ readonly cut: boolean; readonly fresh: boolean }> {
  let before = -1;
  for (let look = 0; look < SETTLE_LOOKS; look += 1) {
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

/** A device has nothing to flush. */
async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  }
}

/** So that the name of a new file outlasts a loss of power too; not every system can. */
async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY);
    await handle.sync().finally(() => handle.close());
  } catch {
    // The text itself is on the disk.
  }
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
