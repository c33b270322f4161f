import { basename, relative } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { WHY_VERBS } from '../../documents/why-verbs.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, fit, paint } from '../../render/style.ts';
import { treeRows } from '../../render/tree-rows.ts';
import type { Calls } from '../../serve/client/client.ts';
import { workFolder } from '../../settings/folders.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { blameOf, outOfAgents } from './blame.ts';
import { findAgent, findAgentOrRoot, findRoot } from './find-agent.ts';

type Why = DocumentOf<'coppice/why/v1'>;
type Step = Why['steps'][number];

/** `coppice why [AGENT|AGENT#MESSAGE|CALL|TREE#CALL|FILE:LINE]`: what led there, back to the prompts, as a short tree. */
export async function why(
  context: Context,
  text: string | undefined,
  { all = false }: { readonly all?: boolean },
): Promise<number> {
  const [, file] = /^(.+):[1-9]\d*$/.exec(text ?? '') ?? [];
  if (text !== undefined && file !== undefined) return whyLine(context, text, all);
  return ask(context, async (asked) => tell(context, await whyOf(context, asked, text, all)));
}

async function whyLine(context: Context, text: string, all: boolean): Promise<number> {
  if (context.server !== null)
    throw new CoppiceError('E_USAGE', 'a line of a file is looked up in the database of this machine', {
      hint: 'Name the agent and its message, as main#12; coppice blame on the machine of the server tells them',
    });
  const blame = await blameOf(context, text);
  const [change] = blame.changes;
  const [line] = blame.lines;
  const shown = line && `${text}  ${clean(line.text)}`;
  if (change === undefined || line === undefined || shown === undefined)
    throw new CoppiceError('E_CALL_NOT_FOUND', `${shown ?? text}: ${outOfAgents(line?.source)}`, {
      hint: `Calls that name it: coppice search ${basename(blame.path)}`,
    });
  return ask(context, async (asked) =>
    tell(context, await asked.why(change.agent_id, { message: change.seq, all }), shown),
  );
}

async function whyOf(context: Context, asked: Calls, text: string | undefined, all: boolean): Promise<Why> {
  if (text === undefined) return asked.why(await findAgentOrRoot(context, asked, text), { all });
  const [, name, place] = /^(.+)#(.+)$/.exec(text) ?? [];
  if (name !== undefined && place !== undefined) {
    const { id } = await findAgent(context, asked, name);
    return asked.why(id, { ...(/^\d+$/.test(place) ? { message: Number(place) } : { call: place }), all });
  }
  const { agents } = await asked.agents({ called: text });
  if (agents.length > 0) return asked.why((await findAgent(context, asked, text)).id, { all });
  try {
    return await asked.why(await findRoot(context, asked, undefined), { call: text, all });
  } catch (error) {
    if (!(error instanceof CoppiceError) || error.code !== 'E_CALL_NOT_FOUND') throw error;
    const nor = `, and ${error.message}; one of another tree is TREE#CALL, a line of a file FILE:LINE`;
    return asked.why((await findAgent(context, asked, text, nor)).id, { all });
  }
}

function tell(context: Context, found: Why, heading?: string): number {
  const { out: style, width } = context;
  return printResult(context, found, () => {
    const nodes = found.steps.map((step, at) => ({ id: String(at), parent_id: `${step.led_to}`, step, at }));
    const lines = treeRows(nodes, style, ({ at }) => at).map(
      ({ agent: { step }, stem }) =>
        paint(style, 'dim', stem) + stepLine(step, context, width - columnsOf(stem)),
    );
    return [...(heading === undefined ? [] : [paint(style, 'bold', fit(heading, width, style))]), ...lines];
  });
}

const READ: ReadonlySet<Step['how']> = new Set(['letter', 'end', 'file']);

function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  return short.startsWith('..') ? path : short;
}

/** Who, in which message, how, and the first words; at the end, the message of the one above that took it in. */
function stepLine(
  { agent, seq, how, text, into, again, left_out }: Step,
  { out: style, options }: Context,
  room: number,
): string {
  const cwd = workFolder(options.cwd);
  const is_own = how === 'call';
  const who = is_own ? '' : `${clean(agent ?? (how === 'schedule' ? 'a timer' : 'you'))} `;
  const place = seq === null ? '' : `#${seq}`;
  const read = READ.has(how) ? ` (read in #${into})` : '';
  const end = `${read}${again ? ' (see above)' : ''}${left_out === 0 ? '' : ` (${left_out} more: --all)`}`;
  const head = `${who}${place}${WHY_VERBS[how]}: `;
  const said = fit(
    clean(how === 'file' ? shortPath(text, cwd) : text),
    Math.max(10, room - columnsOf(head) - end.length),
    style,
  );
  return [
    paint(style, agent === null ? 'green' : 'bold', who),
    paint(style, 'cyan', place),
    `${WHY_VERBS[how]}: `,
    said,
    paint(style, 'dim', end),
  ].join('');
}
