import type { WrittenCall } from './written-calls.ts';

/** A patch as Codex writes it, alone or handed to the program `apply_patch`. */
const PATCH =
  /^\s*(?:apply_patch\s+<<\s*(['"]?)(\w+)\1\n)?\*\*\* Begin Patch\n([\s\S]*?)\n?\*\*\* End Patch\s*(?:\n\2\s*)?$/;
const FILE = /^(Add|Update) File: (.+)\n([\s\S]*)$/;

/** The calls of `patch` and `write` that one of these texts means; none if there is no patch, or if it does what these tools do not. */
export function patchCalls(texts: readonly unknown[]): readonly WrittenCall[] {
  const body = texts
    .map((text) => (typeof text === 'string' ? PATCH.exec(text.replaceAll('\r', ''))?.[3] : undefined))
    .find((one) => one !== undefined);
  const files = (body ?? '').split(/^\*\*\* (?=\w+ File: )/m).slice(1);
  const calls = files.map(fileCall);
  return calls.includes(null) ? [] : (calls as WrittenCall[]);
}

function fileCall(text: string): WrittenCall | null {
  const [, kind, path = '', body = ''] = FILE.exec(text.endsWith('\n') ? text : `${text}\n`) ?? [];
  const lines = body
    .replace(/\*\*\* End of File\n/g, '')
    .split('\n')
    .slice(0, -1);
  if (kind === 'Add') {
    if (!lines.every((line) => line.startsWith('+'))) return null;
    return {
      name: 'write',
      input: JSON.stringify({ path, content: lines.map((line) => `${line.slice(1)}\n`).join('') }),
    };
  }
  const hunks = lines
    .join('\n')
    .split(/^@@.*$\n?/m)
    .filter((hunk) => hunk !== '');
  const edits = hunks.map((hunk) => editOf(hunk.replace(/\n$/, '').split('\n')));
  return edits.length === 0 || edits.includes(null)
    ? null
    : { name: 'patch', input: JSON.stringify({ path, edits }) };
}

/** The edit of lines that stay, go and come; null if none tells where. */
function editOf(lines: readonly string[]): { old_text: string; new_text: string } | null {
  if (!lines.every((line) => line === '' || /^[ +-]/.test(line))) return null;
  const without = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  const [before, after] = [without('+'), without('-')];
  if (before.length === 0) return null;
  const end = after.length === 0 ? '\n' : '';
  return { old_text: before.join('\n') + end, new_text: after.join('\n') };
}
