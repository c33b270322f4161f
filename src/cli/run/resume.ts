import { titleOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { assertMayLeadHere } from '../../serve/leading/leaders.ts';
import { isUnfinished } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import { findRoot } from '../agents/find-agent.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';
import { followRun } from './follow-run.ts';
import { parseLimits } from './limit-option.ts';

export interface ResumeOptions {
  readonly retry?: boolean;
  readonly withoutLast?: boolean;
  readonly limit: readonly string[];
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly timeout?: number;
  readonly wait?: boolean;
}

/** How many of the newest trees are searched for one with work left. */
const RECENT = 50;

/** `coppice resume [ID]`: takes over a tree that no process leads and continues it. */
export async function resume(
  context: Context,
  text: string | undefined,
  options: ResumeOptions,
): Promise<number> {
  const limits = parseLimits(options.limit);
  const store = await context.openStore();
  const root = await rootToLead(context, store, text).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const runtime = await composeRuntime(context, store, composeTerms(context), {
    extra: demoModels(process.stderr.isTTY),
    can_ask: options.ask === true,
  });
  const begin = async (): Promise<Agent> => {
    const report = await runtime.resume(root.id, {
      retry: options.retry === true,
      without_last: options.withoutLast === true,
      ...(context.options.model === undefined ? {} : { model: context.options.model }),
      ...(options.limit.length === 0 ? {} : { limits }),
    });
    if (report.elsewhere > 0) {
      const asked = [
        ...(options.retry === true ? ['--retry'] : []),
        ...(options.withoutLast === true ? ['--without-last'] : []),
        ...(context.options.model === undefined ? [] : ['--model']),
      ].join(', ');
      const untouched = asked === '' ? '' : `; ${asked} did nothing to them`;
      process.stderr.write(
        `${report.elsewhere} of its agents are run by another process and go on there${untouched}\n`,
      );
    }
    const waiting = (await store.asks({ root_id: root.id, open: true })).length;
    if (waiting > 0)
      process.stderr.write(
        `${waiting} approval${waiting === 1 ? ' waits' : 's wait'} for an answer: coppice approvals list\n`,
      );
    for (const { agent, reason } of report.broken)
      process.stderr.write(`${agent.name} (${agent.id}) cannot be restored: ${reason}\n`);
    return report.root;
  };
  return followRun(context, store, runtime, begin, {
    title: `coppice resume  ·  ${await titleOf(store, root)}`,
    events: options.events,
    ask: options.ask,
    wait: options.wait,
    timeout_ms: options.timeout === undefined ? undefined : options.timeout * 1000,
  });
}

async function rootToLead(context: Context, store: Store, text: string | undefined): Promise<Agent> {
  const root = await (text === undefined ? unfinished(context, store) : findRoot(context, store, text));
  await assertMayLeadHere(store, root.id, context.env);
  return root;
}

/** The newest tree of this folder with work left, else the newest one. */
async function unfinished(context: Context, store: Store): Promise<Agent> {
  const newest = await findRoot(context, store, undefined, { only_here: true });
  const { cwd } = newest.config;
  for (const root of await store.agents({ conversations: true, cwd, limit: RECENT }))
    if (await isUnfinished(store, root.id)) return root;
  return newest;
}
