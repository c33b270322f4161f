import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { schemaFault } from '../../kernel/toolsets/output-schema.ts';
import { type LoadedScript, listedScripts, type ScriptTrust } from '../../models/workflow/saved-scripts.ts';

/** The saved workflows that a folder can use. */
export function savedWorkflows(folder: string, trust: ScriptTrust): DocumentOf<'coppice/workflows/v1'> {
  return { schema: 'coppice/workflows/v1', workflows: listedScripts(folder, trust) };
}

/** What the number of agents leaves out, where nobody can know it before the script runs. */
export function uncountedLine(names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`not all counted: the agents of ${names.join(', ')}`];
}

/** What a script does with invented results. `args`: JSON text. Rejects with `E_SCRIPT` for one that cannot run. */
export async function checkDocument(
  { source, within, path }: Pick<LoadedScript, 'source' | 'within'> & { readonly path: string | null },
  args?: string,
  signal?: AbortSignal,
): Promise<DocumentOf<'coppice/workflow-check/v1'>> {
  const setup = { source, within, ...(args === undefined ? {} : { args: JSON.parse(args) }) };
  // Imported once it is needed: it brings the interpreter.
  const check = await (await import('../../models/workflow/check-script.ts')).checkScript(setup, signal);
  const { meta, calls, phases, depth, uncounted, end } = check;
  const unusable = calls.flatMap(({ line, options: { schema } }) => {
    const fault = schema === undefined ? null : schemaFault(schema as Record<string, unknown>);
    return fault === null ? [] : [`line ${line}: agent(): schema: ${fault}`];
  });
  return {
    ...{ schema: 'coppice/workflow-check/v1', name: meta.name, description: meta.description, path },
    ...{ agents: calls.filter(({ kind }) => kind === 'agent').length, calls: calls.length, depth },
    phases: [...phases].map(([title, agents]) => ({ title, agents })),
    ...{ notices: [...uncountedLine(uncounted), ...new Set(unusable), ...check.notices], end },
  };
}
