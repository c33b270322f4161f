import { resolve } from 'node:path';
import { checkScript, type ScriptCheck } from '../../models/workflow/check-script.ts';
import { loadScript } from '../../models/workflow/saved-scripts.ts';
import { clean } from '../../render/clean.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { argsOf } from './workflow-args.ts';

/** `coppice workflow check NAME|FILE`. Exit code 1 if the script fails with invented results. */
export async function workflowCheck(
  context: Context,
  named: string,
  options: { readonly args?: string },
): Promise<number> {
  const { source, path } = loadScript(named, resolve(context.options.cwd ?? '.'), context.env.HOME);
  const args = argsOf(options.args);
  const check = await checkScript({ source, ...(args === undefined ? {} : { args: JSON.parse(args) }) });
  const { meta, calls, phases, depth, notices, end } = check;
  const agents = calls.filter(({ kind }) => kind === 'agent').length;
  const document = {
    ...{ schema: 'coppice/workflow-check/v1', name: meta.name, description: meta.description, path },
    ...{ agents, calls: calls.length, depth, notices, end },
    phases: [...phases].map(([title, count]) => ({ title, agents: count })),
  };
  printResult(context, document, () => [
    `${clean(meta.name)}: ${clean(meta.description)}`,
    `With invented results: ${agents} agents, ${calls.length} calls, ${depth} deep.`,
    ...[...phases].map(([title, count]) => `  ${clean(title ?? '(no phase)')}: ${count}`),
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
