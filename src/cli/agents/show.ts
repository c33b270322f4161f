import { agentJson } from '../../documents/agent-json.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { ledStatus } from '../../render/agent-status.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { unledOf, unledText } from '../../serve/leading/unled.ts';
import { type Context, withStore } from '../setup/context.ts';
import { type Detail, detailLines, printJson, printLines, printSection } from '../setup/output.ts';
import { findAgent, findRoot, nameOfTree } from './find-agent.ts';

/** Where the work of a stopped agent is. */
function worktreeRow({ config }: Agent): Detail[] {
  const worktree = config.task?.worktree ?? null;
  return worktree === null ? [] : [['worktree', `branch ${clean(worktree.branch)}`]];
}

/** `coppice show ID`: everything about one agent except its transcript, which `logs` prints. */
export function show(context: Context, text: string | undefined): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await (text === undefined
      ? findRoot(context, store, text)
      : findAgent(context, store, text));
    const mail = await store.mail(agent.id);
    const children = await store.agents({ parent_id: agent.id });
    const requests = await store.requests(agent.id);
    const unled = isTerminal(agent.state.type) ? null : await unledOf(context, store, agent.root_id);
    if (context.json) {
      printJson({
        schema: 'coppice/agent/v1',
        ...agentJson(agent, [], unled),
        forked_from: agent.forked_from,
        messages: agent.last_seq,
        requests: requests.length,
        pending_mail: mail,
        children: children.map((child) => child.id),
      });
      return 0;
    }
    const parent = agent.parent_id === null ? null : await store.agent(agent.parent_id);
    const { usage } = agent;
    const rows: readonly Detail[] = [
      ['name', clean(agent.name)],
      ['id', agent.id],
      ['session', agent.session_key],
      ['tree', await nameOfTree(store, (await store.agent(agent.root_id)) ?? agent)],
      ['status', stateMark(ledStatus(agent, unled !== null), context.out)],
      ...(unled === null ? [] : [['', unledText(unled)] as const]),
      ['doing', clean(agent.doing ?? '–')],
      ['parent', parent === null ? '–' : `${clean(parent.name)} (${parent.id.slice(0, 8)})`],
      [
        'children',
        children.length === 0
          ? '–'
          : children
              .toReversed()
              .map((child) => `${clean(child.name)} (${child.id.slice(0, 8)})`)
              .join(', '),
      ],
      [
        'forked at',
        agent.forked_from === null
          ? '–'
          : `message ${agent.forked_from.seq} of ${agent.forked_from.agent_id.slice(0, 8)}`,
      ],
      ['model', agent.config.model],
      ['folder', clean(agent.config.cwd)],
      ...worktreeRow(agent),
      ['messages', String(agent.last_seq)],
      [
        'requests',
        `${requests.length}, ${count(usage.input)} tokens in (${count(usage.cached)} cached), ${count(usage.output)} out${usage.cost_usd === null ? '' : `, $${usage.cost_usd.toFixed(4)}`}`,
      ],
      ['tool calls', String(agent.calls)],
      ['mail waiting', String(mail.length)],
      ['age', duration(Date.now() - agent.created_at)],
    ];
    printLines(detailLines(rows, context.out));
    printSection(context, 'cut short', cutShort(agent.state));
    printSection(context, 'last reply', agent.reply);
    return 0;
  });
}
