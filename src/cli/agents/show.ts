import { deniedLine } from '../../records/agent/denied.ts';
import { shownWord } from '../../records/run/outcome.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { type Detail, detailLines, printResult, sectionLines } from '../setup/output.ts';
import { findAgentOrRoot } from './find-agent.ts';

/** `coppice show ID`: everything about one agent except its transcript, which `logs` prints. */
export async function show(context: Context, text: string | undefined): Promise<number> {
  const agent = await ask(context, async (asked) => asked.agent(await findAgentOrRoot(context, asked, text)));
  const { tokens, cost_usd, unled, parent_id, children, forked_from, worktree } = agent;
  const denied = deniedLine(agent.deeds?.denied);
  const rows: readonly Detail[] = [
    ['name', clean(agent.name)],
    ['id', agent.id],
    ['session', agent.session_key],
    ['tree', `${agent.root_id.slice(0, 8)} (${agent.tree_title})`],
    ['status', stateMark(shownWord(agent.status, agent.outcome, agent.outcome_text), context.out)],
    ['outcome', unled === null ? context.hint(clean(agent.outcome_text)) : `unled: ${unledText(unled)}`],
    ['doing', clean(agent.doing ?? '–')],
    ['parent', parent_id === null ? '–' : nameAndId(agent.parent_name, parent_id)],
    [
      'children',
      children
        .map((id, index) => nameAndId(agent.child_names[index], id))
        .toReversed()
        .join(', ') || '–',
    ],
    [
      'forked at',
      forked_from === null ? '–' : `message ${forked_from.seq} of ${forked_from.agent_id.slice(0, 8)}`,
    ],
    ['model', agent.model],
    ['folder', clean(agent.cwd)],
    // Tells where the work of a stopped agent is.
    ...(worktree === null ? [] : [['worktree', `branch ${clean(worktree.branch)}`] as const]),
    ['messages', `${agent.messages}${checkpointsText(agent.checkpoints)}`],
    [
      'requests',
      `${agent.requests}, ${count(tokens.input)} tokens in (${count(tokens.cached)} cached), ${count(tokens.output)} out${cost_usd === null ? '' : `, $${cost_usd.toFixed(4)}`}`,
    ],
    ['calls', `${agent.tool_calls} in all its turns, those to other agents (fork, send, wait, …) included`],
    ...(agent.deeds === null ? [] : [['newest turn', clean(agent.deeds.line || 'only words')] as const]),
    ...(denied === null ? [] : [['denied', clean(denied)] as const]),
    ['mail waiting', String(agent.pending_mail.length)],
    ['age', duration(Date.now() - Date.parse(agent.started_at))],
  ];
  return printResult(context, agent, () => [
    ...detailLines(rows, context.out),
    ...sectionLines('last reply', agent.last_reply, context.out),
  ]);
}

function checkpointsText(times: number): string {
  return times === 0 ? '' : `, summarised ${times === 1 ? 'once' : `${times} times`}`;
}

function nameAndId(name: string | null | undefined, id: string): string {
  return `${clean(name ?? '–')} (${id.slice(0, 8)})`;
}
