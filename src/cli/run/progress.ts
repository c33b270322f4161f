import type { Agent, Tree } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { agentTree } from '../../render/agent-tree.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { fit, paint, type Style } from '../../render/style.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { LiveRegion } from './live-region.ts';
import { mailLine } from './mail-line.ts';

const HEARTBEAT_MS = 30_000;
const TICK_MS = 500;

/** Shows a run while it goes on. */
export interface Progress {
  see(event: RuntimeEvent): void;
  end(): void;
}

/** What agents of a tree used whose conversations are deleted; limits count it. */
export interface DeletedUse {
  readonly agents: number;
  readonly tokens: number;
  readonly cost_usd: number;
}

const NOTHING: DeletedUse = { agents: 0, tokens: 0, cost_usd: 0 };

/** What the tree counted beyond these agents of it, all that are there. */
export function deletedUse(tree: Tree | null, agents: readonly Agent[]): DeletedUse {
  if (tree === null || tree.total <= agents.length) return NOTHING;
  const cost_usd = agents.reduce((sum, { usage }) => sum + (usage.cost_usd ?? 0), 0);
  return {
    agents: tree.total - agents.length,
    tokens: Math.max(0, tree.tokens - tokensOf(agents)),
    // Sums of fractions differ in the last digit.
    cost_usd: tree.cost_usd - cost_usd > 1e-9 ? tree.cost_usd - cost_usd : 0,
  };
}

function tokensOf(agents: readonly Agent[]): number {
  return agents.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
}

/** One line about all agents: how many are at work, what it cost so far. `led`: somebody leads them. */
export function summary(
  agents: readonly Agent[],
  started_at: number,
  now: number,
  { deleted = NOTHING, led = true }: { readonly deleted?: DeletedUse; readonly led?: boolean } = {},
): string {
  const working = led ? agents.filter((agent) => isWorking(agent.state.type)).length : 0;
  const tokens = tokensOf(agents) + deleted.tokens;
  const calls = agents.reduce((sum, agent) => sum + agent.calls, 0);
  const costs = [
    ...agents.flatMap((agent) => agent.usage.cost_usd ?? []),
    ...(deleted.cost_usd > 0 ? [deleted.cost_usd] : []),
  ];
  const gone = deleted.agents === 0 ? '' : `, ${deleted.agents} deleted`;
  const cost = costs.length === 0 ? '' : `, $${costs.reduce((sum, one) => sum + one, 0).toFixed(4)}`;
  const noun = agents.length === 1 ? 'agent' : 'agents';
  return `${agents.length} ${noun}${gone}, ${working} at work, ${calls} call${calls === 1 ? '' : 's'}, ${count(tokens)} tokens${cost}, ${duration(now - started_at)}`;
}

const HOW_TO_ANSWER = 'an approval waits; from another terminal: coppice approvals list';

function isAsk(event: RuntimeEvent): boolean {
  return (
    event.type === 'message' && event.message.kind === 'event' && event.message.content.event === 'asked'
  );
}

/** A live tree on a terminal. */
export function liveProgress(
  stream: NodeJS.WriteStream,
  style: Style,
  title: string,
  known: readonly Agent[],
  deleted: DeletedUse = NOTHING,
): Progress {
  const agents = new Map(known.map((agent) => [agent.id, agent]));
  const started_at = Date.now();
  const region = new LiveRegion(stream, (width, height) => {
    const now = Date.now();
    const all = [...agents.values()];
    const head = `${paint(style, 'bold', fit(title, Math.max(0, width - 1), style))}`;
    const rule = paint(style, 'dim', (style.unicode ? '─' : '-').repeat(Math.max(0, width - 1)));
    const rows = agentTree(all, { width: width - 1, height: Math.max(1, height - 3) }, now, style);
    return [
      head,
      ...rows,
      rule,
      paint(style, 'dim', fit(summary(all, started_at, now, { deleted }), width - 1, style)),
    ];
  });
  const timer = setInterval(() => region.changed(), TICK_MS).unref();
  const restore = () => region.end();
  process.once('exit', restore);
  return {
    see(event) {
      if (event.type === 'agent') {
        agents.set(event.agent.id, event.agent);
        region.changed();
      } else if (isAsk(event))
        region.print([fit(HOW_TO_ANSWER, Math.max(20, (stream.columns ?? 80) - 1), style)]);
      else if (event.type === 'mail') {
        const line = mailLine(event.mail, nameIn(agents));
        if (line !== null) region.print([fit(line, Math.max(20, (stream.columns ?? 80) - 1), style)]);
      } else if (event.type === 'ledger')
        region.print([
          event.reachable ? event.text : `ledger: ${clean(event.text)}; waiting, nothing is lost`,
        ]);
    },
    end() {
      clearInterval(timer);
      process.off('exit', restore);
      region.end();
    },
  };
}

/** Append-only lines where there is no terminal: what began, what ended, a heartbeat. */
export function plainProgress(
  stream: NodeJS.WritableStream,
  title: string,
  known: readonly Agent[],
  deleted: DeletedUse = NOTHING,
): Progress {
  const agents = new Map(known.map((agent) => [agent.id, agent]));
  const shown = new Map<string, string>();
  const started_at = Date.now();
  let ended = false;
  const say = (text: string) => stream.write(`${text}\n`);
  say(title);
  const timer = setInterval(
    () => say(`… ${summary([...agents.values()], started_at, Date.now(), { deleted })}`),
    HEARTBEAT_MS,
  ).unref();
  return {
    see(event) {
      if (event.type === 'ledger')
        say(event.reachable ? event.text : `ledger: ${clean(event.text)}; waiting, nothing is lost`);
      if (event.type === 'mail') {
        const told = mailLine(event.mail, nameIn(agents));
        if (told !== null) say(`${duration(Date.now() - started_at).padStart(5)}  ${fit(told, 200, ASCII)}`);
      }
      if (isAsk(event)) say(`${' '.repeat(7)}${HOW_TO_ANSWER}`);
      if (event.type !== 'agent') return;
      const { agent } = event;
      agents.set(agent.id, agent);
      const word = statusWord(agent);
      const text = line(agent, word);
      if (text === null || shown.get(agent.id) === text) return;
      shown.set(agent.id, text);
      say(`${duration(Date.now() - started_at).padStart(5)}  ${clean(agent.name)}: ${text}`);
    },
    end() {
      if (ended) return;
      ended = true;
      clearInterval(timer);
      say(summary([...agents.values()], started_at, Date.now(), { deleted }));
    },
  };
}

/** Cuts long lines on any terminal. */
const ASCII: Style = { colour: false, unicode: false };

function nameIn(agents: ReadonlyMap<string, Agent>): (id: string) => string {
  return (id) => agents.get(id)?.name ?? id.slice(0, 8);
}

/** What is worth a line: calls and ends, not every request. */
function line(agent: Agent, word: string): string | null {
  if (agent.doing === 'thinking') return null;
  const why = agent.state.type === 'failed' ? agent.state.failure.error : cutShort(agent.state);
  const more = why ?? agent.doing;
  return more === null ? word : fit(`${word}, ${clean(more)}`, 200, ASCII);
}

/** Every event as a JSON line on standard output. */
export function eventLines(): Progress {
  return {
    see: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`),
    end: () => undefined,
  };
}
