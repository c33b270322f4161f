import { isAgentProgram } from '../../../records/agent/agent.ts';
import { promptOf } from '../../../records/conversation/prompt.ts';
import { sizeOf } from '../../../records/conversation/prompt-message.ts';
import { count } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { tableLines } from '../../../render/table.ts';
import type { AppContext } from '../../app-context.ts';
import { paneOf } from '../../state/ui-state.ts';

const HEAD = ['characters', 'share', 'about tokens', 'what'] as const;

/** `/context`: shows what fills the context of the agent in view: in characters, and the tokens of its newest request by their share. */
export async function tellContext(app: AppContext, _: null, view: string): Promise<void> {
  const agent = app.state.agents.get(view);
  if (agent === undefined) return;
  const { name, config } = agent;
  const head = `context of ${clean(name)}: ${contextWords(app, view)}`;
  if (isAgentProgram(config.model)) return app.say(`${head}\nan agent program composes the rest by itself`);
  const { system, tools } = await app.runtime.sentFirst(view);
  const said = { user: 0, assistant: 0, results: 0 };
  for (const message of promptOf(await app.store.history(view)).messages())
    said[message.role] += sizeOf(message);
  const instructions = config.instructions?.length ?? 0;
  const parts: readonly (readonly [number, string])[] = [
    [system.length - instructions, 'system text'],
    [instructions, 'instruction files (AGENTS.md)'],
    [JSON.stringify(tools).length, `descriptions of ${tools.length} tools`],
    [said.user, 'what it was told'],
    [said.assistant, 'its answers and calls'],
    [said.results, 'results of its calls'],
  ];
  const total = parts.reduce((sum, [size]) => sum + size, 0);
  const used = paneOf(app.state, view).request_tokens;
  const rows = parts
    .filter(([size]) => size > 0)
    .map(([size, what]) => [
      count(size),
      `${Math.round((100 * size) / total)}%`,
      used === null ? '' : count(Math.round((used * size) / total)),
      what,
    ]);
  const table = { width: Number.MAX_SAFE_INTEGER, right: new Set([0, 1, 2]), style: app.style };
  app.say([head, ...tableLines(HEAD, rows, table), '/compact summarises the older part'].join('\n'));
}

/** How many tokens the newest request of an agent took, and of how many. */
export function contextWords({ state, options: { meters } }: AppContext, agent_id: string): string {
  const used = paneOf(state, agent_id).request_tokens;
  if (used === null) return 'no request was counted yet';
  const window = meters.windowOf(state.agents.get(agent_id)?.config.model ?? '');
  const of = window === null ? ', of a window that is not known' : ` of ${count(window)}`;
  return `${count(used)} tokens${of}${window === null ? '' : ` (${Math.round((100 * used) / window)}%)`}`;
}
