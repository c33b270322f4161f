import type { ScriptCheck } from '../../models/workflow/check-script.ts';
import { clean } from '../../render/clean.ts';
import { checkDocument } from '../../trees/workflow/saved-workflows.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { argsOf, namedScript } from './workflow-args.ts';

/** `coppice workflow check NAME|FILE`. Exit code 1 if the script fails with invented results. */
export async function workflowCheck(
  context: Context,
  named: string,
  options: { readonly args?: string },
): Promise<number> {
  // It is only looked at.
  const script = await namedScript(context, named, { accepts: () => true });
  const document = await checkDocument(script, argsOf(options.args));
  const { name, description, agents, calls, depth, phases, notices } = document;
  const end = document.end as ScriptCheck['end'];
  printResult(context, document, () => [
    `${clean(name)}: ${clean(description)}`,
    `With invented results: ${agents} agents, ${calls} calls, ${depth} deep.`,
    ...phases.map((one) => `  ${clean(one.title ?? '(no phase)')}: ${one.agents}`),
    ...notices.map((notice) => `note: ${clean(notice)}`),
    endText(end),
  ]);
  return end.type === 'failed' || end.type === 'stuck' ? 1 : 0;
}

function endText(end: ScriptCheck['end']): string {
  switch (end.type) {
    case 'done':
      return `It returns ${clean(end.result.slice(0, 200))}`;
    case 'bounded':
      return 'It still starts agents after as many as a check answers.';
    case 'failed': {
      const { message, line } = end.failure;
      return `It fails: ${clean(message)}${line === null ? '' : ` (line ${line})`}`;
    }
    default:
      return 'It awaits a promise that nothing will resolve.';
  }
}
