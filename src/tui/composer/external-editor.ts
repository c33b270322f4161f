import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { AppContext } from '../app-context.ts';

/** Opens the draft in the person's editor, which has the terminal meanwhile; agents go on. */
export function editDraft(app: AppContext): void {
  const { editor, screen } = app;
  app.attempt(async () => {
    const command = process.env.VISUAL || process.env.EDITOR;
    if (!command)
      throw new CoppiceError('E_INVALID_ARGUMENT', 'no editor is set', {
        hint: 'Set VISUAL or EDITOR before you start the program, for example: export EDITOR=vim',
      });
    const folder = await mkdtemp(join(tmpdir(), 'coppice-draft-'));
    try {
      const file = join(folder, 'draft.md');
      await writeFile(file, editor.text, { mode: 0o600 });
      await screen.lend(() => edit(command, file));
      editor.setText((await readFile(file, 'utf8')).replace(/\r?\n$/, ''));
      // Draws it.
      app.dispatch({ type: 'tick', now: Date.now() });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Rejects when the editor was not found or failed: the draft stays as it was. */
async function edit(command: string, file: string): Promise<void> {
  // The variables may hold arguments: `code --wait`. Ctrl-C is for the editor alone, and not the end of the shell around it.
  const child = spawn('/bin/sh', ['-c', `trap : INT; ${command} "$1"`, 'sh', file], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code === 0) return;
  const missing = code === 127 || code === 126;
  throw new CoppiceError(
    'E_INVALID_ARGUMENT',
    missing
      ? `the editor ${command} cannot be started`
      : `the editor ended with ${signal ?? `exit code ${code}`}; the draft is as it was`,
    missing ? { hint: 'VISUAL, or else EDITOR, names the editor.' } : {},
  );
}
