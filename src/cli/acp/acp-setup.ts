import { CoppiceError } from '../../records/coppice-error.ts';
import { prepareModel } from '../first-run/prepare-model.ts';
import { composeTerms } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { DEMO_MODEL } from '../setup/demo-rules.ts';
import { endProcessSoon } from '../setup/end-process.ts';
import { EXIT } from '../start/exit-code.ts';
import { isDumb, opensScreen, styleOfUi } from '../window/window-terminal.ts';

/** `coppice acp --setup`, by which editors let a person log in: sets up a model; its exit code tells whether there is one. */
export async function acpSetup(context: Context): Promise<number> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new CoppiceError('E_USAGE', 'acp --setup needs a terminal on standard input and output', {
      hint: 'In a terminal: coppice setup',
    });
  const style = styleOfUi(context, {});
  const terminal = { style, line_mode: isDumb(context), openScreen: opensScreen(context, style) };
  const prepared = await prepareModel(context, composeTerms(context), { set_up: true, ...terminal });
  endProcessSoon();
  // The demo model does not count as one that was set up.
  return prepared === null || prepared.model === DEMO_MODEL ? EXIT.no_credentials : EXIT.done;
}
