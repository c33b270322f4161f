import { CoppiceError } from '../../records/coppice-error.ts';
import type { Context } from '../setup/context.ts';

/** The value of `--args`, as JSON text. */
export function argsOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    throw new CoppiceError('E_INVALID_ARGUMENT', '--args is not JSON', {
      hint: `Quote a text: --args '"src"'`,
    });
  }
}

/** Throws where a server is to be asked. */
export function ledgerItself({ server }: Context): void {
  if (server !== null)
    throw new CoppiceError(
      'E_USAGE',
      'workflows are run and steered on the ledger itself, not over a server',
      {
        hint: 'Leave out --server; name the ledger with --database',
      },
    );
}
