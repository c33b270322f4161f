import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CoppiceError } from '../../../records/coppice-error.ts';
import type { Store } from '../../../store/store.ts';
import type { AppOptions, ExportFormat } from '../../../tui/app-options.ts';
import { exportPieces } from '../../export/export.ts';
import { askLedger } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';

/** `/export` of the terminal UI: writes a new file, and never over an existing one. Resolves to its path. */
export function windowExport(context: Context, store: Store, folder: string): AppOptions['exportTree'] {
  return async (root_id: string, format: ExportFormat, named: string | null) => {
    const file = resolve(folder, named ?? `coppice-${root_id.slice(0, 8)}.${format}`);
    const pieces = exportPieces(context, askLedger(context, store), root_id, format);
    await pipeline(pieces, createWriteStream(file, { mode: 0o600, flags: 'wx' })).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.syscall !== 'open' && error.syscall !== 'write') throw error;
        const why = error.code === 'EEXIST' ? 'it exists already' : error.message;
        throw new CoppiceError('E_USAGE', `${file} was not written: ${why}`, {
          hint: 'Name another file: /export md FILE',
          cause: error,
        });
      },
    );
    return file;
  };
}
