import { mergeLine } from '../../../documents/merge-line.ts';
import type { AgentDocument } from '../../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import { clean } from '../../../render/clean.ts';
import { mergeBranches } from '../../../trees/answers/merge-branches.ts';
import { unledText } from '../../../trees/leaders/unled-reason.ts';
import { mergeTest } from '../../setup/api-sources.ts';
import { ask } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';
import { onStopSignal } from '../../setup/end-process.ts';
import { printJson } from '../../setup/output.ts';
import { EXIT } from '../../start/exit-code.ts';
import { findAgent } from '../find-agent.ts';

type Row = DocumentOf<'coppice/merge/v1'>['merges'][number];

/** `coppice merge ID…`: merges the branches one after the other and runs the test after each; a failure is mailed to the author of the branch. */
export function merge(context: Context, texts: readonly string[]): Promise<number> {
  return ask(context, async (asked) => {
    const agents: AgentDocument[] = [];
    for (const text of texts) agents.push(await findAgent(context, asked, text));
    const stop = new AbortController();
    const removeHandlers = onStopSignal(() => stop.abort());
    const onRow = async (row: Row) => {
      if (!context.json) process.stdout.write(`${mergeLine(row)}\n`);
      const { name = '', unled = null } = row.sent_to === null ? {} : await asked.agent(row.sent_to);
      if (unled !== null)
        process.stderr.write(`kept in the mailbox of ${clean(name)}; ${unledText(unled)}\n`);
    };
    try {
      const done = await mergeBranches(agents, asked, { ...mergeTest(context), signal: stop.signal, onRow });
      if (context.json) printJson(done);
      if (stop.signal.aborted) return EXIT.interrupted;
      return done.merges.every(({ status }) => status === 'merged' || status === 'unchanged')
        ? EXIT.done
        : EXIT.failed;
    } finally {
      removeHandlers();
    }
  });
}
