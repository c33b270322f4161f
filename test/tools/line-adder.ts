// A process that changes one file: `FOLDER NAME TIMES` adds lines to it once its parent says so; `FOLDER NAME hold` never ends its first change.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { containPath } from '../../src/permissions/path-containment.ts';
import { changeFile } from '../../src/tools/files/change-file.ts';

const [folder = '', name = '', times = ''] = process.argv.slice(2);

/** Adds a line to the file as it was read; `pause` runs between reading and writing. */
export function addLine(place: string, line: string, pause: () => void): Promise<unknown> {
  return changeFile(
    () => containPath(place, 'file.txt'),
    (_, before) => {
      pause();
      return Buffer.concat([before?.bytes ?? Buffer.alloc(0), Buffer.from(`${line}\n`)]);
    },
    {
      cwd: place,
      spill_dir: join(place, 'data', 'output'),
      signal: new AbortController().signal,
      agent: { id: 'a1', name, root_id: 'a1' },
      env_allow: [],
      onOutput: () => undefined,
    },
  );
}

function sleepSync(ms?: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function work(): Promise<void> {
  if (times === 'hold')
    return void (await addLine(folder, name, () => {
      writeSync(1, 'holds\n');
      sleepSync();
    }));
  process.send?.('ready');
  await once(process, 'message');
  for (let line = 0; line < Number(times); line += 1) {
    // Long enough for another process to interleave, if the lock allowed it.
    await addLine(folder, `${name} ${line}`, () => sleepSync(1));
    // Lets other processes take the lock.
    await sleep(1);
  }
  process.disconnect();
}

if (process.argv[1] === import.meta.filename) void work();
