import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { createTwoFilesPatch } from 'diff';
import { z } from 'zod';
import { writeContained } from './atomic-write.ts';
import { defineTool } from './define-tool.ts';
import { editText } from './edit-text.ts';
import { isBinary } from './file-kind.ts';
import { limits } from './output.ts';
import { type ContainedPath, openContained } from './path-containment.ts';
import { containAllowedPath, type PathGuard } from './path-guard.ts';
import { printablePath } from './printable-path.ts';
import type { Tool } from './tool.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to your folder.'),
  edits: z
    .array(
      z.strictObject({
        old_text: z.string().describe('Text that stands in the file exactly once, without line numbers.'),
        new_text: z.string().describe('What takes its place.'),
      }),
    )
    .min(1)
    .max(200)
    .describe('Applied in order; all of them or none.'),
});

function readText(source: ContainedPath): string {
  const shown = printablePath(source.relative);
  const file = openContained(source);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new Error(`${shown}: not a regular file`);
    if (status.size > limits.patch_bytes)
      throw new Error(`${shown}: ${status.size} bytes; the most is ${limits.patch_bytes}`);
    const bytes = readFileSync(file);
    if (isBinary(bytes) || !isUtf8(bytes))
      throw new Error(`${shown}: not UTF-8 text, so patch would damage it: use bash`);
    return bytes.toString('utf8');
  } finally {
    closeSync(file);
  }
}

function difference(name: string, before: string, after: string): string {
  // A comparison of very different texts takes long; the edit is done all the same.
  const patch = createTwoFilesPatch(name, name, before, after, '', '', { context: 2, timeout: 200 });
  if (patch === undefined) return '[too different to show]';
  return patch.slice(patch.indexOf('--- ')).replaceAll('\0', '\ufffd');
}

/** Replaces parts of a file. Reading and writing happen in one step, so no other tool of this process comes between. */
export function createPatchTool(guard?: PathGuard): Tool<z.infer<typeof input>> {
  return defineTool({
    name: 'patch',
    description:
      'Replace parts of a text file in your folder. Each old_text must stand in the file exactly once, white space ' +
      'included; if one is not found, nothing is changed. Shows the difference.',
    input,
    subject: ({ path }) => path,
    run({ path, edits }, context) {
      const target = containAllowedPath('patch', path, context, guard);
      const before = readText(target);
      const after = editText(before, edits);
      writeContained(target, after);
      return difference(printablePath(target.relative), before, after);
    },
  });
}
