import { DEFAULT_TERMS } from '../../kernel/toolsets/toolset-terms.ts';
import { composeRoot } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';
import { DEMO_MODEL, DEMO_TOOLS, demoModels } from '../setup/demo-rules.ts';
import { leadRun } from './follow-run.ts';

/** `coppice demo`: runs a typical task on the scripted model, in the current folder, with real read-only tools. */
export async function demo(context: Context, options: { readonly fast?: boolean }): Promise<number> {
  const slow = process.stderr.isTTY === true && options.fast !== true;
  const { config } = composeRoot(context, DEFAULT_TERMS, { model: DEMO_MODEL, allow: DEMO_TOOLS });
  const prompt = 'Audit this folder: split the work, then report.';
  // In the usual ledger, so that a second terminal sees the demo like any other run.
  return leadRun(context, async () => ({
    begin: (runtime) => runtime.start({ prompt, config: { ...config, tools: DEMO_TOOLS } }),
    terms: DEFAULT_TERMS,
    extra: demoModels(slow),
    title: 'SCRIPTED DEMO  ·  offline, scripted agents, real tools',
  }));
}
