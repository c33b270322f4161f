import { closeSync, fstatSync, opendirSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import {
  type ContainedPath,
  containPath,
  openContained,
  pathInFolder,
} from '../../permissions/path-containment.ts';
import { containAllowedPath } from '../../permissions/path-guard.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { meantPath } from '../../processes/working-folder.ts';
import { orElse } from '../../records/coppice-error.ts';
import type { Tool, ToolContext } from '../../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from '../built-in-permissions.ts';
import { defineOwnTool } from '../define-tool.ts';
import { hashFile } from './file-hash.ts';
import { imageTypeOf, isBinary } from './file-kind.ts';
import { showImage } from './read-image.ts';
import { READ_BYTES, readLines } from './read-lines.ts';

const LINES_MAX = 2_000;
const ENTRIES_MAX = 1_000;

const input = z.strictObject({
  path: z.string().min(1).overwrite(meantPath).describe('Relative to your folder.'),
  // Who counts from 0 means the first line, too.
  offset: z
    .int()
    .min(0)
    .overwrite((line) => Math.max(1, line))
    .optional()
    .describe('First line, from 1.'),
  limit: z.int().min(1).max(LINES_MAX).optional().describe('How many lines.'),
});

/** The agent's own spilled output lies outside of its folder and may be read too. */
function locate(path: string, context: ToolContext): ContainedPath {
  const spilled = isAbsolute(path) ? orElse(() => containPath(context.spill_dir, path), null) : null;
  return spilled?.exists ? spilled : containAllowedPath('read', path, context);
}

function listFolder(folder: number, path: ContainedPath): string {
  const names: string[] = [];
  let more = false;
  const entries = opendirSync(pathInFolder(folder, path.absolute, '.'));
  try {
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      if (names.length === ENTRIES_MAX) {
        more = true;
        break;
      }
      const mark = entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '';
      names.push(printablePath(entry.name) + mark);
    }
  } finally {
    entries.closeSync();
  }
  names.sort();
  const count = more ? `the first ${names.length} entries; for more use bash` : `${names.length} entries`;
  return [`${printablePath(path.relative)}/: folder, ${count}`, ...names].join('\n');
}

/** Shows a text file with line numbers or a picture, or lists a folder. */
export const readTool: Tool<z.infer<typeof input>> = defineOwnTool({
  name: 'read',
  permission: BUILT_IN_PERMISSIONS.read,
  description:
    'Read a text file (number, tab, line), a picture, or list a folder. ' +
    `Returns up to ${LINES_MAX} lines or ${READ_BYTES / 1024} KB; go on with offset.`,
  input,
  side_by_side: true,
  idempotent: true,
  subject: ({ path }) => path,
  async run({ path, offset = 1, limit = LINES_MAX }, context) {
    const source = locate(path, context);
    const file = openContained(source);
    try {
      const status = fstatSync(file);
      if (status.isDirectory()) return listFolder(file, source);
      const shown = printablePath(source.relative);
      if (!status.isFile()) throw new Error(`${shown}: not a regular file`);
      const head = Buffer.alloc(64);
      if (readSync(file, head, 0, 64, 0) === 64 && isBinary(head) && imageTypeOf(head) !== undefined)
        return await showImage(containAllowedPath('read_image', path, context));
      // Hashed before the lines are read: if the file changes meanwhile, what the agent has seen counts as stale.
      const hashed = hashFile(file);
      const result = await readLines(file, shown, offset, limit, context.signal);
      if (hashed === null || result.status === 'cancelled') return result;
      return { ...result, file: { path: source.absolute, hash: hashed.hash } };
    } finally {
      closeSync(file);
    }
  },
});
