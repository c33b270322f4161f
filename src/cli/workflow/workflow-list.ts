import { resolve } from 'node:path';
import { loadScript, savedScripts } from '../../models/workflow/saved-scripts.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { countsText, workflowRunsDocument } from '../../trees/workflow/run-document.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** `coppice workflow list [--runs]`. */
export async function workflowList(
  context: Context,
  { runs = false }: { readonly runs?: boolean },
): Promise<number> {
  if (runs) return withStore(context, (store) => listRuns(context, store));
  const folder = resolve(context.options.cwd ?? '.');
  const workflows = savedScripts(folder, context.env.HOME).map(({ name, path }) => {
    try {
      const { description, when_to_use } = loadScript(path, folder).meta;
      return { name, path, description, when_to_use, error: null };
    } catch (error) {
      return { name, path, description: null, when_to_use: null, error: (error as Error).message };
    }
  });
  return printResult(context, { schema: 'coppice/workflows/v1', workflows }, () =>
    workflows.length === 0
      ? ['no workflows: save a script as .coppice/workflows/NAME.js, here or in the home folder']
      : workflows.flatMap(({ name, path, description, error }) => [
          `${clean(name)}  ${clean(description ?? `cannot run: ${error}`)}`,
          `  ${clean(path)}`,
        ]),
  );
}

async function listRuns(context: Context, store: Store): Promise<number> {
  const document = await workflowRunsDocument(store);
  return printResult(context, document, () =>
    document.runs.length === 0
      ? ['no workflow has been run yet']
      : document.runs.map(
          ({ id, name, outcome_text, counts }) =>
            `${id.slice(0, 8)}  ${clean(name)}  ${clean(outcome_text)}; ${countsText(counts)}`,
        ),
  );
}
