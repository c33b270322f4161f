import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Archive } from '../../store/remove-old.ts';

const zip = promisify(gzip);
/** Characters that are buffered before a write. */
const BUFFER_MAX = 1_000_000;

/**
 * A new file of JSON lines (docs/retention.md), compressed if its name ends in `.gz`: a sequence of complete gzip members, so that what is on disk
 * can be read even after a crash. Only its owner may read it.
 */
export class ArchiveFile implements Archive {
  readonly path: string;
  readonly #file: FileHandle;
  #lines: string[] = [];
  #length = 0;
  #entries = 0;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Rejects with `E_USAGE` when the file exists or cannot be created. */
  static async create(path: string, head: object): Promise<ArchiveFile> {
    const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EEXIST' ? 'the file already exists' : 'the file cannot be created: check the folder';
      throw new CoppiceError('E_USAGE', `--archive ${path}: ${why}`, {
        hint: 'Name a new file, e.g. with the date in its name.',
        cause: error,
      });
    });
    const archive = new ArchiveFile(path, file);
    archive.#line({ type: 'archive', schema: 'coppice/archive/v1', ...head });
    await archive.settle();
    // Makes the new directory entry durable.
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
    return archive;
  }

  async write(entry: object): Promise<void> {
    this.#line(entry);
    this.#entries += 1;
    if (this.#length >= BUFFER_MAX) await this.#flush();
  }

  #line(entry: object): void {
    const line = `${JSON.stringify(entry)}\n`;
    this.#lines.push(line);
    this.#length += line.length;
  }

  async #flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    await this.#file.appendFile(this.path.endsWith('.gz') ? await zip(text) : text);
  }

  async settle(): Promise<void> {
    await this.#flush();
    await this.#file.sync();
  }

  /** Appends the line that marks the file as complete. */
  async end(): Promise<void> {
    this.#line({ type: 'end', entries: this.#entries });
    await this.settle();
    await this.#file.close();
  }

  async abandon(): Promise<void> {
    await this.#file.close();
  }
}
