import type { DeliverResult } from '../channel.ts';

/** What no further try mends, each with what is wrong and what to do. */
const FOR_GOOD: Readonly<Record<string, string>> = {
  EACCES: 'may not be written: change its permissions, or name another file',
  EPERM: 'may not be written: change its permissions, or name another file',
  EROFS: 'lies on a file system that is read-only: name another file',
  EISDIR: 'is a folder: name a file in it',
  ENOENT: 'lies in a folder that does not exist: create the folder',
  ENOTDIR: 'lies below something that is no folder: name another file',
  ELOOP: 'is a symbolic link that leads to itself: name another file',
  ENAMETOOLONG: 'has a name that is too long: name another file',
  ENXIO: 'is a socket: name a file',
  EPIPE: 'is a pipe, which keeps nothing: name a file',
};

/** What a failure to append means for the delivery. What is not known may pass, as a full disk or a lost share does: tried again. */
export function fileFailure(path: string, error: unknown): DeliverResult {
  if (error instanceof RangeError)
    return { type: 'failed', error: `the delivery cannot be written to ${path}: one of its times is none` };
  const { code, name } = error as NodeJS.ErrnoException;
  const wrong = FOR_GOOD[code ?? ''];
  if (wrong !== undefined) return { type: 'failed', error: `${path} ${wrong} (${code})` };
  return { type: 'retry', error: `${path} cannot be written now (${code ?? name})`, after_ms: null };
}
