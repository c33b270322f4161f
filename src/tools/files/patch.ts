import * as z from 'zod';
import { containAllowedPath } from '../../permissions/path-guard.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { meantPath } from '../../processes/working-folder.ts';
import type { Tool } from '../../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from '../built-in-permissions.ts';
import { defineOwnTool } from '../define-tool.ts';
import { changeFile, unseenRefusal } from './change-file.ts';
import { changeOf, difference, patchableText, readText } from './difference.ts';
import { editText } from './edit-text.ts';

const input = z.strictObject({
  path: z.string().min(1).overwrite(meantPath).describe('Relative to your folder.'),
  edits: z
    .array(
      z.strictObject({
        old_text: z.string().describe('Text that stands in the file exactly once, white space included.'),
        new_text: z.string(),
        replace_all: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(200)
    .describe('Applied in order, all or none.'),
});

/** Replaces parts of a file. */
export const patchTool: Tool<z.infer<typeof input>> = defineOwnTool({
  name: 'patch',
  permission: BUILT_IN_PERMISSIONS.patch,
  description: 'Replace parts of a text file. Returns the difference.',
  input,
  subject: ({ path }) => path,
  difference: ({ path, edits }, context) =>
    changeOf(containAllowedPath('patch', path, context), (before) => editText(before, edits), context),
  refusal: ({ path }, context) =>
    unseenRefusal(containAllowedPath('patch', path, context), context.files, true),
  async run({ path, edits }, context) {
    let shown: string | null = null;
    const file = await changeFile(
      () => containAllowedPath('patch', path, context),
      (target, hashed) => {
        const before = hashed?.bytes ? patchableText(target, hashed.bytes) : readText(target);
        const after = editText(before, edits);
        shown = difference(printablePath(target.relative), before, after);
        return Buffer.from(after, 'utf8');
      },
      context,
      true,
    );
    return { status: 'ok', output: shown ?? '[too large or too different to show]', file };
  },
});
