import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { differencesFromRoot } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { shownWord, UNSUCCESSFUL } from '../../records/run/outcome.ts';
import { counted } from '../../records/text/text.ts';
import { doingNow } from '../../render/agent-tree.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { findRoot, hasEnded } from './find-agent.ts';

const HEAD = ['ID', 'NAME', 'STATUS', 'PARENT', 'CALLS', 'TOKENS', 'AGE', 'TASK, DOING'] as const;
const RIGHT = new Set([4, 5, 6]);
const RECENT = 200;
/** Time without any change after which a tree at rest is left out. */
const OLD_MS = 24 * 60 * 60_000;
/** Maximum unled trees that are listed; further ones are only counted. */
const UNLED_SHOWN = 3;

/** `coppice ps`: living agents of the newest trees; `--all` includes ended ones and sub-agents of tasks. */
export async function ps(
  context: Context,
  { all = false, tree }: { readonly all?: boolean; readonly tree?: string },
): Promise<number> {
  const document = await ask(context, async (asked) =>
    asked.agents({ all, tree: tree === undefined ? undefined : await findRoot(context, asked, tree) }),
  );
  return printResult(context, document, () => agentLines(context, document, { all, tree }));
}

function agentLines(
  context: Context,
  { agents: found, hidden: others, approvals }: DocumentOf<'coppice/agents/v1'>,
  { all, tree }: { readonly all: boolean; readonly tree: string | undefined },
): string[] {
  const recent = new Set(
    found.filter((agent) => all || tree !== undefined || !isOld(agent)).map(({ root_id }) => root_id),
  );
  const agents = found.filter((agent) => recent.has(agent.root_id));
  const hidden = hiddenText(new Set(found.map(({ root_id }) => root_id)).size - recent.size, others);
  if (agents.length === 0)
    return [
      context.hint(
        all ? 'no agents yet: coppice run "…"' : `no living agents; ${hidden}see all: coppice ps --all`,
      ),
    ];
  const living = agents.filter((agent) => !hasEnded(agent)).length;
  const more = tree === undefined && found.length + others === RECENT ? ` (the newest ${RECENT})` : '';
  const unled = new Map(
    agents.flatMap(({ root_id, unled }) => (unled === null ? [] : [[root_id, unled] as const])),
  );
  const unled_lines = [...unled].map(([id, reason]) => `${id.slice(0, 8)}: ${unledText(reason)}`);
  const unled_more = unled_lines.length - UNLED_SHOWN;
  return [
    ...agentTable(context, agents),
    `${counted(agents.length, 'agent')}${all ? `, ${living} living` : ''}${more}`,
    ...unled_lines.slice(0, UNLED_SHOWN),
    ...(unled_more > 0 ? [`and ${unled_more} more trees that no process leads`] : []),
    ...(approvals > 0
      ? [`${counted(approvals, 'approval')} ${context.hint('waiting: coppice approvals list')}`]
      : []),
    ...(hidden !== '' ? [`and ${hidden}${context.hint('see all: coppice ps --all')}`] : []),
  ];
}

/** Whether the agent does not keep its tree in the list: it rests, and has not changed for a day. */
function isOld({ state, unled, pending_approval, updated_at }: AgentDocument): boolean {
  const rests = !isWorking(state) && unled === null && pending_approval === null;
  return rests && Date.parse(updated_at) < Date.now() - OLD_MS;
}

function hiddenText(older: number, others: number): string {
  const trees = older === 0 ? '' : `${counted(older, 'older tree')}; `;
  return `${trees}${others === 0 ? '' : `${counted(others, 'sub-agent')}; `}`;
}

/** Table of agents; the row of a root shows the title of its tree. */
function agentTable({ width, out: style, hint }: Context, agents: readonly AgentDocument[]): string[] {
  const now = Date.now();
  const short = shortIds(agents.map((agent) => agent.id));
  const names = new Map(agents.map((agent) => [agent.id, clean(agent.name)]));
  const roots = new Map(agents.map((agent) => [agent.id, agent]));
  const rows = agents.map((agent) => [
    short.get(agent.id) ?? agent.id,
    clean(agent.name),
    stateMark(shownWord(agent.status, agent.outcome, agent.outcome_text), style),
    agent.parent_id === null ? sign(style, '–') : (names.get(agent.parent_id) ?? agent.parent_id.slice(0, 8)),
    String(agent.tool_calls),
    count(agent.tokens.input + agent.tokens.output),
    duration(now - Date.parse(agent.started_at)),
    [
      agent.title ?? [],
      // Differences from the root come before the activity, so that a narrow window shows them.
      ...differencesFromRoot(agent, roots.get(agent.root_id)).map(clean),
      agent.doing === null
        ? UNSUCCESSFUL.has(agent.outcome)
          ? hint(clean(agent.outcome_text))
          : []
        : clean(doingNow(agent, now)),
    ]
      .flat()
      .join(` ${sign(style, '·')} `) || sign(style, '–'),
  ]);
  return tableLines(HEAD, rows, { width, right: RIGHT, style, most: { 1: 24, 3: 16 } });
}
