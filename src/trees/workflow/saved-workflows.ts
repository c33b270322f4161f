import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type LoadedScript, listedScripts, type ScriptTrust } from '../../models/workflow/saved-scripts.ts';

/** The saved workflows that a folder can use. */
export function savedWorkflows(folder: string, trust: ScriptTrust): DocumentOf<'coppice/workflows/v1'> {
  return { schema: 'coppice/workflows/v1', workflows: listedScripts(folder, trust) };
}

/** What a script does with invented results. `args`: JSON text. Rejects with `E_SCRIPT` for one that cannot run. */
export async function checkDocument(
  { source, path }: Pick<LoadedScript, 'source'> & { readonly path: string | null },
  args?: string,
  signal?: AbortSignal,
): Promise<DocumentOf<'coppice/workflow-check/v1'>> {
  const setup = { source, ...(args === undefined ? {} : { args: JSON.parse(args) }) };
  // Imported once it is needed: it brings the interpreter.
  const check = await (await import('../../models/workflow/check-script.ts')).checkScript(setup, signal);
  const { meta, calls, phases, depth, notices, end } = check;
  return {
    ...{ schema: 'coppice/workflow-check/v1', name: meta.name, description: meta.description, path },
    ...{ agents: calls.filter(({ kind }) => kind === 'agent').length, calls: calls.length, depth },
    phases: [...phases].map(([title, agents]) => ({ title, agents })),
    ...{ notices, end },
  };
}
