import { CoppiceError } from '../../records/coppice-error.ts';

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
