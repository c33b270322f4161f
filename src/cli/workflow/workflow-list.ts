import { resolve } from 'node:path';
import { scriptTrust } from '../../models/workflow/saved-scripts.ts';
import { clean } from '../../render/clean.ts';
import { countsText } from '../../trees/workflow/run-document.ts';
import { savedWorkflows } from '../../trees/workflow/saved-workflows.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** `coppice workflow list [--runs]`. */
export async function workflowList(
  context: Context,
  { runs = false }: { readonly runs?: boolean },
): Promise<number> {
  if (runs) return listRuns(context);
  const trust = scriptTrust(context.env, context.data_folder);
  const document = savedWorkflows(resolve(context.options.cwd ?? '.'), trust);
  return printResult(context, document, () =>
    document.workflows.length === 0
      ? ['no workflows: save a script as .coppice/workflows/NAME.js, here or in the home folder']
      : document.workflows.flatMap(({ name, path, description, error }) => [
          `${clean(name)}  ${clean(description ?? `cannot run: ${error}`)}`,
          `  ${clean(path)}`,
        ]),
  );
}

async function listRuns(context: Context): Promise<number> {
  const document = await ask(context, (asked) => asked.workflowRuns());
  return printResult(context, document, () =>
    document.runs.length === 0
      ? ['no workflow has been run yet']
      : document.runs.map(
          ({ id, name, outcome_text, counts }) =>
            `${id.slice(0, 8)}  ${clean(name)}  ${clean(outcome_text)}; ${countsText(counts)}`,
        ),
  );
}
