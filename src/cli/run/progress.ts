import type { Agent } from '../../records/agent/agent.ts';
import type { ChildResult } from '../../records/agent/state.ts';
import { cutShort, shortly } from '../../records/conversation/child-text.ts';
import { completionLine, readCompletion } from '../../records/conversation/completion.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { statusWord } from '../../render/agent-status.ts';
import { agentTree } from '../../render/agent-tree.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { fit, paint, type Style } from '../../render/style.ts';
import { type DeletedUse, summary } from '../../render/tree-summary.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { LiveRegion } from './live-region.ts';

const HEARTBEAT_MS = 30_000;
const TICK_MS = 500;

/** Shows a run while it is under way: as a live tree, as lines, or as JSON events. */
export interface Progress {
  see(event: RuntimeEvent): void;
  end(): void;
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
  deleted?: DeletedUse,
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

/** Lines for where there is no terminal: what starts, what ends, and a heartbeat. */
export function plainProgress(
  stream: NodeJS.WritableStream,
  title: string,
  known: readonly Agent[],
  deleted?: DeletedUse,
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
        const line = mailLine(event.mail, nameIn(agents));
        if (line !== null) say(`${duration(Date.now() - started_at).padStart(5)}  ${fit(line, 200, ASCII)}`);
      }
      if (isAsk(event)) say(`${' '.repeat(7)}${HOW_TO_ANSWER}`);
      if (event.type !== 'agent') return;
      const { agent } = event;
      agents.set(agent.id, agent);
      const word = statusWord(agent);
      const text = agentLine(agent, word);
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

/** For cutting long lines, on any terminal. */
const ASCII: Style = { colour: false, unicode: false };

function nameIn(agents: ReadonlyMap<string, Agent>): (id: string) => string {
  return (id) => agents.get(id)?.name ?? id.slice(0, 8);
}

/** Calls and ends are shown; null for a model request. */
function agentLine(agent: Agent, word: string): string | null {
  if (agent.doing === 'thinking') return null;
  const why = agent.state.type === 'failed' ? agent.state.failure.error : cutShort(agent.state);
  const more = why ?? agent.doing;
  return more === null ? word : fit(`${word}, ${clean(more)}`, 200, ASCII);
}

/** Each event as a JSON line on standard output. */
export function eventLines(): Progress {
  return {
    see: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`),
    end: () => undefined,
  };
}

/** A line about mail that reports an end, which is a completion message or an announcement; null for any other. */
function mailLine(mail: Mail, nameOf: (agent_id: string) => string): string | null {
  const who = `${clean(mail.from_name)} → ${clean(nameOf(mail.to_id))}`;
  if (mail.kind === 'announce') {
    const { outcome } = JSON.parse(mail.body) as ChildResult;
    const end =
      outcome.type === 'success'
        ? `✓ announced: ${clean(shortly(outcome.result, outcome.limit))}`
        : `✗ announced: ${clean(outcome.error)} (${outcome.error_kind})`;
    return `${who}  ${end}`;
  }
  if (mail.kind !== 'letter') return null;
  const reading = readCompletion(mail.body);
  return reading.type === 'completion' ? `${who}  ${clean(completionLine(reading.completion))}` : null;
}
