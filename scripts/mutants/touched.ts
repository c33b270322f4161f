import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** File that V8 writes for each process into `NODE_V8_COVERAGE`. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

/** Places of the program that a run of tests reached, in all its processes. */
export class Touched {
  /** By absolute path, one list for each process. Offsets are those of the source: Node replaces types by blanks. */
  readonly #ranges = new Map<string, Range[][]>();

  /** Reads the coverage files in `folder`, for sources below `root`. */
  constructor(folder: string, root: string) {
    const below = `file://${root}/src/`;
    for (const name of readdirSync(folder)) {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
      for (const { url, functions } of result) {
        if (!url.startsWith(below)) continue;
        const path = fileURLToPath(url);
        const of_file = this.#ranges.get(path) ?? [];
        this.#ranges.set(path, [...of_file, functions.flatMap(({ ranges }) => ranges)]);
      }
    }
  }

  has(path: string, offset: number): boolean {
    return (this.#ranges.get(path) ?? []).some((ranges) => isTouched(ranges, offset));
  }
}

/** Whether a place was executed: the count of the innermost range around it applies. */
function isTouched(ranges: readonly Range[], offset: number): boolean {
  const around = ranges.filter((range) => range.startOffset <= offset && offset < range.endOffset);
  const size = (range: Range) => range.endOffset - range.startOffset;
  const [closest] = around.toSorted((a, b) => size(a) - size(b));
  return closest !== undefined && closest.count > 0;
}
