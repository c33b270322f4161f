import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { nameOf, shownWord } from '../../records/run/outcome.ts';
import { clean } from '../../render/clean.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import { isNotFound } from '../../trees/find-agent.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { EXIT } from '../start/exit-code.ts';
import { findAgent, findRoot } from './find-agent.ts';

/** Interval at which unled trees are looked for. */
const TELL_S = 2;

type Row = DocumentOf<'coppice/wait/v1'>['results'][number];

/** `coppice wait [ID…]`: waits until none of these agents (default: all of the newest tree, those that are created meanwhile too) is working. Read-only. */
export async function wait(
  context: Context,
  texts: readonly string[],
  options: { readonly timeout: number },
): Promise<number> {
  const document = await ask(context, async (asked) => {
    let whom = await whomOf(context, asked, texts);
    const deadline = performance.now() + options.timeout * 1_000;
    const told = new Set<string>();
    const before = new Set<string>();
    for (let first = true; ; first = false) {
      const left_s = Math.max(0, deadline - performance.now()) / 1_000;
      // The first query returns at once, so that unled trees are reported before the wait for them begins.
      const terms = { timeout_seconds: first ? 0 : Math.min(TELL_S, left_s) };
      const found = await asked.wait({ ...whom, ...terms }).catch(async (error: unknown) => {
        // One of them was deleted with its run: the wait is for the others.
        if (first || !isNotFound(error)) throw error;
        whom = { agents: await stillThere(asked, whom.agents ?? []) };
        if (whom.agents.length === 0) return { schema: 'coppice/wait/v1' as const, results: [] };
        return asked.wait({ ...whom, timeout_seconds: 0 });
      });
      // Agents of the tree that had ended before the wait began.
      if (first && whom.agents === undefined)
        for (const row of found.results) if (row.status === 'dead') before.add(row.agent_id);
      const results = found.results.filter(({ agent_id }) => !before.has(agent_id));
      tellUnled(results, told);
      if (found.timed_out === undefined || left_s === 0) return { ...found, results };
    }
  });
  printResult(context, document, () =>
    document.results.map((row) => {
      const status = row.unled === null ? shownWord(row.status, row.outcome) : 'unled';
      return `${clean(row.name).padEnd(20)}  ${nameOf(status).padEnd(8)}  ${clean(saidBy(row))}`;
    }),
  );
  return document.timed_out === undefined ? EXIT.done : EXIT.wait_incomplete;
}

/** Warns on stderr once about each unled tree. Who waits goes on: a process may take it over later. */
export function tellUnled(rows: readonly Pick<Row, 'unled' | 'root_id'>[], told: Set<string>): void {
  for (const { unled, root_id } of rows) {
    if (unled === null || told.has(root_id)) continue;
    told.add(root_id);
    process.stderr.write(`${root_id.slice(0, 8)}: ${unledText(unled)}\n`);
  }
}

type Whom =
  | { readonly agents: string[]; readonly tree?: never }
  | { readonly agents?: never; readonly tree: string };

async function whomOf(context: Context, asked: Asked, texts: readonly string[]): Promise<Whom> {
  if (texts.length === 0) return { tree: await findRoot(context, asked, undefined) };
  const found = texts.map(async (text) => (await findAgent(context, asked, text)).id);
  return { agents: await Promise.all(found) };
}

async function stillThere(asked: Asked, ids: readonly string[]): Promise<string[]> {
  const found = ids.map((id) =>
    asked.wait({ agents: [id], timeout_seconds: 0 }).then(
      () => [id],
      (error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      },
    ),
  );
  return (await Promise.all(found)).flat();
}

function saidBy({ last_reply, error, limit }: Row): string {
  const why = error ?? limit;
  return [why === undefined ? '' : `(${why})`, last_reply ?? ''].filter((text) => text !== '').join(' ');
}
