import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { Diff, ToolCallContent } from '@agentclientprotocol/sdk';
import { containPath } from '../../permissions/path-containment.ts';
import type { FileStamp } from '../../records/conversation/message.ts';
import { isJsonObject, type JsonObject } from '../../records/text/json-text.ts';
import { readWhole } from '../../tools/files/read-whole.ts';

/** Maximum bytes of a file whose old text is shown in a diff. */
const TEXT_BYTES = 400_000;

type DiffContent = Diff & { readonly type: 'diff' };

/** The change that a call of `write` or `patch` is about to make; empty for other calls. */
export function intendedChange(tool: string, input: JsonObject, cwd: string): ToolCallContent[] {
  return changeOf(tool, input, cwd, () => presentText(cwd, input.path));
}

/** The change that such a call has made; the old text is known only if the ledger keeps it. */
export function doneChange(
  tool: string,
  input: JsonObject,
  cwd: string,
  file: FileStamp | undefined,
): ToolCallContent[] {
  if (file === undefined) return [];
  return changeOf(tool, input, cwd, () => (file.before === null ? null : file.base));
}

/** `before` returns the whole old text; null if there was no file; undefined if unknown. */
function changeOf(
  tool: string,
  input: JsonObject,
  cwd: string,
  before: () => string | null | undefined,
): DiffContent[] {
  if (typeof input.path !== 'string') return [];
  const path = resolve(cwd, input.path);
  if (tool === 'write' && typeof input.content === 'string') {
    const old = before();
    return old === undefined ? [] : [{ type: 'diff', path, oldText: old, newText: input.content }];
  }
  if (tool !== 'patch' || !Array.isArray(input.edits)) return [];
  return input.edits.flatMap((edit: unknown): DiffContent[] => {
    if (!isJsonObject(edit)) return [];
    const { old_text, new_text } = edit;
    if (typeof old_text !== 'string' || typeof new_text !== 'string') return [];
    return [{ type: 'diff', path, oldText: old_text, newText: new_text }];
  });
}

function presentText(cwd: string, path: unknown): string | null | undefined {
  try {
    const place = containPath(cwd, String(path));
    if (!place.exists) return null;
    const bytes = readWhole(place, TEXT_BYTES);
    return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  } catch {
    // Outside the folder, unreadable or too large: the tool reports it to its model, and there is nothing to show.
    return undefined;
  }
}
