import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { AppContext } from '../app-context.ts';

/** Opens the draft in the person's editor, which owns the terminal meanwhile; agents go on. */
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
      // Triggers a redraw.
      app.dispatch({ type: 'tick', now: Date.now() });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Runs the editor; rejects if it cannot be started or fails, and then the draft stays as it was. */
async function edit(command: string, file: string): Promise<void> {
  // The variables may contain arguments: `code --wait`. The trap lets Ctrl-C reach the editor without ending the shell around it.
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
