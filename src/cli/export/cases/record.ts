import { recordCase } from '../../../library/testing/cases/record-case.ts';
import { findRoot } from '../../agents/find-agent.ts';
import { askLedger } from '../../setup/ask-server.ts';
import { type Context, withStore } from '../../setup/context.ts';
import { writeOut } from '../export.ts';
import { termsOfToday } from './terms-of-today.ts';

/** `coppice record [ID]`: writes a run as a case, and proves that it can be replayed. */
export async function record(
  context: Context,
  text: string | undefined,
  { out }: { readonly out?: string },
): Promise<number> {
  const { version, env, options } = context;
  const recorded = await withStore(context, async (store) => {
    const root_id = await findRoot(context, askLedger(context, store), text);
    const today = (root: Parameters<typeof termsOfToday>[1]) =>
      termsOfToday({ ...context, options: { ...options, cwd: root.cwd } }, root);
    return recordCase(store, root_id, { version, env, today });
  });
  await writeOut(out, [`${JSON.stringify(recorded, null, 1)}\n`]);
  const { agents, steps } = recorded;
  const number = (type: string) => steps.filter((step) => step.type === type).length;
  process.stderr.write(
    `recorded: agents ${agents.length}, answers ${number('answer')}, results of tools ${number('result')} · coppice replay ${out ?? 'FILE'}\n`,
  );
  return 0;
}
