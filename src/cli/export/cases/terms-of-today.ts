import { createCronTool } from '../../../cron/cron-tool.ts';
import { localZone } from '../../../cron/schedule/describe-schedule.ts';
import type { CaseRoot } from '../../../library/testing/cases/record-case.ts';
import type { ReplayTerms } from '../../../library/testing/cases/replay-case.ts';
import { given } from '../../../records/text/json-fields.ts';
import type { Store } from '../../../store/store.ts';
import { createBuiltInTools } from '../../../tools/tool-registry.ts';
import { createWorkflowTool } from '../../../trees/workflow/workflow-tool.ts';
import { composeRoot, composeTerms, type RootOptions } from '../../setup/compose-config.ts';
import type { Context } from '../../setup/context.ts';

/** What a run with these terms gets today in this folder: its configuration, profiles and tools. */
export function termsOfToday(
  context: Context,
  { model, thinking, profile, toolsets, fixed }: CaseRoot,
  rules: Pick<RootOptions, 'allow' | 'deny' | 'yes'> = {},
): ReplayTerms {
  const terms = composeTerms(context);
  const { config } = composeRoot(context, terms, { ...rules, model, thinking, profile, toolset: toolsets });
  // Its tools are only described: it has no ledger.
  const store = null as unknown as Store;
  return {
    config: { ...config, ...given(fixed) },
    terms,
    tools: [
      ...createBuiltInTools({ web: context.loaded.configuration.web ?? {}, env: context.env }),
      createCronTool({
        ...{ store, terms, default_tz: localZone(), is_served: true },
        ...{ canAsk: () => false, checkModel: async () => undefined },
      }),
      createWorkflowTool({ store, runtime: () => null as never, trust: null as never }),
    ],
  };
}
