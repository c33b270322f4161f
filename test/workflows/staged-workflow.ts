import { scriptModel } from '../../src/models/workflow/script-model.ts';
import { readMeta } from '../../src/models/workflow/script-source.ts';
import type { WorkflowTerms } from '../../src/records/workflow/workflow-terms.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import type { RuntimeOptions } from '../../src/runtime/runtime-options.ts';
import { askPerson } from '../../src/tools/ask-person.ts';
import { createWorkflowTool } from '../../src/trees/workflow/workflow-tool.ts';
import { META } from './played-script.ts';

/** The terms of a run whose script's body follows `META`. */
export function termsOf(body: string, more: Partial<WorkflowTerms> = {}): WorkflowTerms {
  return {
    ...{ name: 'test', description: 'a test', script: META + body },
    ...{ seed: 'seed', started_at: Date.UTC(2026, 0, 2, 3, 4, 5), calls: 1_000 },
    ...more,
  };
}

/** What a runtime runs workflows with. `saved`: the bodies of saved ones, by name. */
export function workflowHost(
  saved: Readonly<Record<string, string>> = {},
): NonNullable<RuntimeOptions['workflows']> {
  return {
    modelOf: async (agent, terms) => scriptModel(agent, terms),
    async load(name) {
      const script = META + (saved[name] ?? '');
      const { description } = readMeta(script);
      return { name, description, script };
    },
    ask: askPerson,
  };
}

/** The tool `workflow` of a stage where nobody is asked, which is what it needs a store for. */
export function stagedWorkflowTool(runtime: () => RuntimeFace) {
  const trust = { home: '/', accepts: () => true, accept: () => undefined };
  return createWorkflowTool({ runtime, store: null as never, trust });
}
