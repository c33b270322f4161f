import * as z from 'zod';
import type { ContainedPath } from '../../permissions/path-containment.ts';
import { containAllowedPath } from '../../permissions/path-guard.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { meantPath } from '../../processes/working-folder.ts';
import type { ToolResult } from '../../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from '../built-in-permissions.ts';
import { defineOwnTool } from '../define-tool.ts';
import { hashContained } from './file-hash.ts';
import { imageTypeOf } from './file-kind.ts';
import { fitImage } from './fit-image.ts';
import { readWhole } from './read-whole.ts';

export const IMAGE_BYTES = 20 * 1024 * 1024;

const input = z.strictObject({
  path: z.string().min(1).overwrite(meantPath).describe('Path of the image, relative to your folder.'),
});

/** The result for an image file; throws for any other. */
export async function showImage(source: ContainedPath): Promise<ToolResult> {
  const shown = printablePath(source.relative);
  const hashed = hashContained(source);
  const bytes = readWhole(source, IMAGE_BYTES, 'make it smaller first');
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined)
    throw new Error(`${shown}: not a png, jpeg, gif or webp image; for text use read`);
  const fitted = await fitImage(bytes, media_type);
  if (!fitted.ok) throw new Error(`${shown}: ${fitted.error}`);
  return {
    status: 'ok',
    output: `${shown}: ${fitted.about}`,
    images: [fitted.image],
    ...(hashed === null ? {} : { file: { path: source.absolute, hash: hashed.hash } }),
  };
}

const tool = defineOwnTool<z.infer<typeof input>>({
  name: 'read_image',
  permission: BUILT_IN_PERMISSIONS.read_image,
  description: `Look at an image in your folder: png, jpeg, gif or webp, up to ${IMAGE_BYTES / 1024 / 1024} MB. Large ones are scaled down, of an animation you see the first frame.`,
  input,
  side_by_side: true,
  idempotent: true,
  subject: ({ path }) => path,
  run: ({ path }, context) => showImage(containAllowedPath('read_image', path, context)),
});
/** Shows an image file to the model; `read` shows pictures, too. */
export const readImageTool: typeof tool = { ...tool, audience: ({ tools }) => !tools.includes('read') };
