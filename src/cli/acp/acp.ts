import { Readable, Writable } from 'node:stream';
import type { EditorFolder } from '../../acp/acp-options.ts';
import { serveEditor } from '../../acp/serve-editor.ts';
import { workingFolder } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import type { Context } from '../setup/context.ts';
import { closeStore, endUnread, onGone, onStopSignal } from '../setup/end-process.ts';
import { EXIT } from '../start/exit-code.ts';
import { type EditorRules, editorPlaces } from './editor-places.ts';

interface AcpCommandOptions extends EditorRules {
  readonly setup?: boolean;
}

/** `coppice acp`: leads trees for an editor until it closes standard input. */
export async function acp(context: Context, { setup, ...rules }: AcpCommandOptions): Promise<number> {
  if (setup === true) return (await import('./acp-setup.ts')).acpSetup(context);
  if (process.stdin.isTTY === true)
    throw new CoppiceError('E_USAGE', 'acp is started by editors, with pipes on standard input and output', {
      hint: 'See docs/editors.md for how to name it in yours. On a terminal: coppice',
    });
  const log = (line: string) => void process.stderr.write(`${clean(line)}\n`);
  // Libraries may print: their output must not come between the protocol messages.
  console.log = console.error;
  const store = await context.openStore();
  const places = editorPlaces(context, store, rules);
  let code: number = EXIT.done;
  try {
    const editor = serveEditor(
      {
        version: context.version,
        store,
        log,
        placeOf: (cwd): Promise<EditorFolder> => places.placeOf(workingFolder(cwd)),
        env: context.env,
      },
      {
        input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
        output: Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      },
    );
    onGone(store, () => editor.close());
    const remove = onStopSignal((_, exit_code) => {
      code = exit_code;
      editor.close();
    });
    // A failed write means that the editor has gone away: shuts down in order, as at the end of its input.
    process.stdout.removeAllListeners('error').on('error', () => editor.close());
    await editor.closed;
    remove();
    return code;
  } finally {
    await places.close();
    await closeStore(store).finally(endUnread);
  }
}
