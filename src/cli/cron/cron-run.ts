import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { clean } from '../../render/clean.ts';
import { leadRun } from '../run/follow-run.ts';
import { followAtServer } from '../run/server-run.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';
import { tellUnled } from '../setup/no-server-notices.ts';
import { printResult } from '../setup/output.ts';
import { EXIT } from '../start/exit-code.ts';

interface CronRunOptions {
  readonly detach?: boolean;
  readonly ask?: boolean;
  readonly events?: boolean;
}

/** `coppice cron run JOB`: fires an extra instant now; this process leads the run unless it is left to a server. */
export async function cronRun(context: Context, text: string, options: CronRunOptions): Promise<number> {
  const fired = await ask(context, async (asked) => {
    const { id, name, session } = await asked.job(text);
    const document = await asked.runJob(id);
    const { outcome, root_id } = document;
    if (session === 'isolated' && root_id !== null && options.detach !== true) return { name, root_id };
    printResult(context, document, () => [`${outcomeText(session, outcome)} ${clean(name)}`]);
    if (session === 'isolated' && root_id !== null) await tellUnled(asked, root_id);
    return null;
  });
  if (fired === null) return EXIT.done;
  const { name, root_id } = fired;
  const follow = { ...options, title: `coppice cron run  ·  ${clean(name)}` };
  const { server } = context;
  if (server !== null) return followAtServer(context, server, async () => root_id, follow);
  return leadRun(context, async () => ({
    ...follow,
    begin: async (runtime) => (await runtime.resume(root_id)).root,
    extra: demoModels(process.stderr.isTTY),
  }));
}

function outcomeText(
  session: 'isolated' | 'main',
  outcome: DocumentOf<'coppice/cron-fired/v1'>['outcome'],
): string {
  if (outcome === 'queued') return 'queued until the previous run has ended:';
  return session === 'main' ? 'sent to the main session:' : 'started';
}
