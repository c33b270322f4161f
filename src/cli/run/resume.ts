import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { UNSUCCESSFUL } from '../../records/run/outcome.ts';
import type { Calls, CoppiceClient } from '../../serve/client/client.ts';
import { workFolder } from '../../settings/folders.ts';
import { resumedDocument } from '../../trees/answers/tree-answers.ts';
import { assertMayLeadHere } from '../../trees/leaders/leaders.ts';
import { findRoot } from '../agents/find-agent.ts';
import { askLedger } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';
import { type FollowFlags, leadRun } from './follow-run.ts';
import { parseLimits } from './limit-option.ts';
import { followAtServer } from './server-run.ts';

interface ResumeOptions extends FollowFlags {
  readonly retry?: boolean;
  readonly withoutLast?: boolean;
  readonly limit: readonly string[];
}

/** How many of the newest trees are searched for one with work left. */
const RECENT = 50;

/** `coppice resume [ID]`: takes over a tree that no process leads and continues it. */
export async function resume(
  context: Context,
  text: string | undefined,
  options: ResumeOptions,
): Promise<number> {
  const { server } = context;
  const { model } = context.options;
  const how = {
    retry: options.retry === true,
    without_last: options.withoutLast === true,
    ...(model === undefined ? {} : { model }),
    ...(options.limit.length === 0 ? {} : { limits: parseLimits(options.limit) }),
  };
  let [since, tried] = ['', new Map<string, string>()];
  const follow = { ...options, since: () => since, tried: () => tried };
  const tell = (report: DocumentOf<'coppice/resumed/v1'>): void => {
    tellResumed(context, options, report);
    tried = new Map(report.tried.map(({ agent_id, updated_at }) => [agent_id, updated_at]));
  };
  if (server !== null) {
    const begin = async (client: CoppiceClient): Promise<string> => {
      const root_id = await rootToResume(context, client, text);
      since = (await client.agent(root_id)).updated_at;
      tell(await client.resumeTree(root_id, how));
      return root_id;
    };
    return followAtServer(context, server, begin, { ...follow, title: `coppice resume  ·  ${server.url}` });
  }
  return leadRun(context, async (store) => {
    const asked = askLedger(context, store);
    const root = await asked.agent(await rootToResume(context, asked, text));
    await assertMayLeadHere(store, root.id, context.env);
    since = root.updated_at;
    return {
      ...follow,
      begin: async (runtime) => {
        const report = await runtime.resume(root.id, how);
        tell(resumedDocument(report));
        return report.root;
      },
      extra: demoModels(process.stderr.isTTY),
      title: `coppice resume  ·  ${root.tree_title}`,
    };
  });
}

/** Reports on stderr what keeps agents of the tree from going on here. */
function tellResumed(
  context: Context,
  options: ResumeOptions,
  { elsewhere, broken }: Pick<DocumentOf<'coppice/resumed/v1'>, 'elsewhere' | 'broken'>,
): void {
  if (elsewhere > 0) {
    const wanted = [
      ...(options.withoutLast === true ? ['--without-last'] : []),
      ...(context.options.model === undefined ? [] : ['--model']),
    ].join(', ');
    const untouched = wanted === '' ? '' : `; ${wanted} had no effect on them`;
    const are =
      elsewhere === 1 ? 'is led by another process and continues' : 'are led by another process and continue';
    process.stderr.write(`${elsewhere} of its agents ${are} there${untouched}\n`);
  }
  for (const { agent_id, name, reason } of broken)
    process.stderr.write(`${name} (${agent_id}) cannot be restored: ${reason}\n`);
}

/** Returns the root of the tree of the agent that `text` refers to; without `text`, of this folder's newest tree with work left, else of its newest one. */
async function rootToResume(context: Context, asked: Calls, text: string | undefined): Promise<string> {
  if (text !== undefined) return findRoot(context, asked, text);
  const newest = await findRoot(context, asked, undefined, { only_here: true });
  const cwd = workFolder(context.options.cwd);
  const { trees } = await asked.trees({ conversations: true, cwd, limit: RECENT });
  const left = trees.find(({ outcome }) => outcome !== 'done' && !UNSUCCESSFUL.has(outcome));
  return left?.root_id ?? newest;
}
