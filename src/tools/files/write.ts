import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { containAllowedPath } from '../../permissions/path-guard.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { meantPath } from '../../processes/working-folder.ts';
import type { Tool } from '../../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from '../built-in-permissions.ts';
import { defineOwnTool } from '../define-tool.ts';
import { changeFile, unseenRefusal } from './change-file.ts';
import { changeOf } from './difference.ts';
import { withBreaksOf } from './edit-text.ts';

export const WRITE_BYTES = 10 * 1024 * 1024;

const input = z.strictObject({
  path: z.string().min(1).overwrite(meantPath).describe('Relative to your folder.'),
  content: z.string(),
});

/** Replaces a whole file, or creates it with missing folders. */
export const writeTool: Tool<z.infer<typeof input>> = defineOwnTool({
  name: 'write',
  permission: BUILT_IN_PERMISSIONS.write,
  description:
    'Create a file and missing folders, or replace all of a file that you have read. To change a part, use patch.',
  input,
  subject: ({ path }) => path,
  difference: ({ path, content }, context) =>
    changeOf(containAllowedPath('write', path, context), (before) => withBreaksOf(before, content), context),
  refusal: ({ path }, context) => unseenRefusal(containAllowedPath('write', path, context), context.files),
  async run({ path, content }, context) {
    let bytes = Buffer.from(content, 'utf8');
    if (bytes.length > WRITE_BYTES)
      throw new Error(`field "content": ${bytes.length} bytes; the maximum is ${WRITE_BYTES}`);
    let target = path;
    const file = await changeFile(
      () => containAllowedPath('write', path, context),
      ({ relative }, before) => {
        target = printablePath(relative);
        if (before?.bytes && isUtf8(before.bytes))
          bytes = Buffer.from(withBreaksOf(before.bytes.toString('utf8'), content), 'utf8');
        return bytes;
      },
      context,
    );
    const what = file.before === null ? 'created' : 'replaced';
    const breaks = bytes.includes('\r\n') ? ', lines end with CR LF' : '';
    return { status: 'ok', output: `${what} ${target} (${bytes.length} bytes${breaks})`, file };
  },
});
