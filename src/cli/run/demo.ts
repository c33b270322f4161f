import { DEFAULT_TERMS } from '../../kernel/toolsets/toolset-terms.ts';
import { composeConfig, composeRuntime } from '../setup/compose.ts';
import type { Context } from '../setup/context.ts';
import { DEMO_MODEL, demoModels } from './demo-rules.ts';
import { followRun } from './follow-run.ts';

/** `coppice demo`: the main job on the scripted model, in the current folder, with real tools that only read. */
export async function demo(context: Context, options: { readonly fast?: boolean }): Promise<number> {
  // The usual ledger, so that a second terminal sees the demo like any other run.
  const store = await context.openStore();
  const slow = process.stderr.isTTY === true && options.fast !== true;
  const runtime = await composeRuntime(context, store, DEFAULT_TERMS, { extra: demoModels(slow) });
  const permissions = { allow: ['bash', 'read', 'search'], deny: [], yes: false };
  const config = {
    ...composeConfig(context, DEFAULT_TERMS, DEMO_MODEL, permissions, {}),
    tools: ['bash', 'read', 'search'],
  };
  return followRun(
    context,
    store,
    runtime,
    () => runtime.start({ prompt: 'Audit this folder: split the work, then report.', config }),
    {
      title: 'SCRIPTED DEMO  ·  offline, scripted agents, real tools',
    },
  );
}
