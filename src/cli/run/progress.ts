import { agentJson } from '../../documents/agent-json.ts';
import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import { WHAT_IF } from '../../records/agent/agent.ts';
import type { ChildResult } from '../../records/agent/state.ts';
import { resultLine } from '../../records/conversation/child-text.ts';
import { completionLine } from '../../records/conversation/facts/completion.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { AssistantContent } from '../../records/conversation/message.ts';
import { endWord, nameOf, shownWord } from '../../records/run/outcome.ts';
import { isJsonObject } from '../../records/text/json-text.ts';
import { agentTree } from '../../render/agent-tree.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { fit, paint, type Style } from '../../render/style.ts';
import { type DeletedUse, summary, waitLines } from '../../render/tree-summary.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { LiveRegion } from './live-region.ts';

const HEARTBEAT_MS = 30_000;
const TICK_MS = 500;

/** Parts of an event, of this process or of a server, that are shown; an event without any of them is not shown. */
export interface ShownEvent {
  readonly agent?: AgentDocument | undefined;
  readonly mail?: Pick<Mail, 'kind' | 'body' | 'completion' | 'from_id' | 'from_name' | 'to_id'> | undefined;
  /** Text that a person should look at. */
  readonly notice?: string | undefined;
  readonly ledger?: string | undefined;
  /** Phases and lines that the script of a workflow tells. */
  readonly script?: readonly string[] | undefined;
}

/** Shows a run in progress, as a live tree or as lines. */
export interface Progress {
  see(event: ShownEvent): void;
  end(): void;
}

/** A live tree on a terminal. */
export function liveProgress(
  stream: NodeJS.WriteStream,
  style: Style,
  title: string,
  known: readonly AgentDocument[],
  deleted?: DeletedUse,
  hint = (text: string) => text,
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
  const waits = newWaits(agents, hint);
  const timer = setInterval(() => region.changed(), TICK_MS).unref();
  const restore = () => region.end();
  process.once('exit', restore);
  return {
    see(event) {
      const { agent, mail, ledger } = event;
      if (agent !== undefined) {
        // What a continuation answers is for the script.
        agents.set(agent.id, agent.model === WHAT_IF ? { ...agent, last_reply: null } : agent);
        region.changed();
      }
      const told = mail === undefined ? (event.notice ?? null) : mailLine(mail, agents);
      for (const line of [...(event.script ?? []), ...(told === null ? [] : [told]), ...waits()])
        region.print([fit(line, Math.max(20, (stream.columns ?? 80) - 1), style)]);
      if (ledger !== undefined) region.print([ledger]);
    },
    end() {
      clearInterval(timer);
      process.off('exit', restore);
      region.end();
    },
  };
}

/** Prints lines where there is no terminal: what starts, what ends, and a heartbeat. */
export function plainProgress(
  stream: NodeJS.WritableStream,
  title: string,
  known: readonly AgentDocument[],
  deleted?: DeletedUse,
  hint = (text: string) => text,
): Progress {
  const agents = new Map(known.map((agent) => [agent.id, agent]));
  const shown = new Map<string, string>();
  const started_at = Date.now();
  let ended = false;
  const say = (text: string) => stream.write(`${text}\n`);
  say(title);
  const waits = newWaits(agents, hint);
  const tell = (lines: readonly string[]) => lines.map((line) => say(`${' '.repeat(7)}${line}`));
  tell(waits());
  const timer = setInterval(() => {
    const all = [...agents.values()];
    say(`… ${summary(all, started_at, Date.now(), { deleted })}`);
    tell(waitLines(all, Date.now()).map(hint));
  }, HEARTBEAT_MS).unref();
  return {
    see(event) {
      const { agent, mail, ledger } = event;
      if (ledger !== undefined) say(ledger);
      if (event.notice !== undefined) tell([clean(event.notice)]);
      tell(event.script ?? []);
      const line = mail === undefined ? null : mailLine(mail, agents);
      if (line !== null) say(`${duration(Date.now() - started_at).padStart(5)}  ${fit(line, 200, ASCII)}`);
      if (agent === undefined) return;
      const before = agents.get(agent.id) ?? agent;
      agents.set(agent.id, agent);
      if (waitLines([before, agent]).length > 0) tell(waits());
      const text = agentLine(agent);
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

/** Returns each time what the agents have begun to wait for. */
function newWaits(
  agents: ReadonlyMap<string, AgentDocument>,
  hint: (text: string) => string,
): () => readonly string[] {
  let told: readonly string[] = [];
  return () => {
    const before = new Set(told);
    told = waitLines([...agents.values()]).map(hint);
    return told.filter((line) => !before.has(line));
  };
}

/** Style for cutting long lines on any terminal. */
const ASCII: Style = { colour: false, unicode: false };

/** Line about a call or an end of an agent; null for a model request. */
function agentLine({ doing, state, error, limit, status, held, outcome }: AgentDocument): string | null {
  if (doing === 'thinking' || held !== null) return null;
  const why = state === 'failed' ? (error?.message ?? null) : limit;
  const more = why ?? doing;
  const word = nameOf(shownWord(status, outcome));
  return more === null ? word : fit(`${word}, ${clean(more)}`, 200, ASCII);
}

/** Line about mail that reports an end, which is a completion message or an announcement; null for other mail. */
function mailLine(
  mail: NonNullable<ShownEvent['mail']>,
  agents: ReadonlyMap<string, AgentDocument>,
): string | null {
  // Of a continuation, the script tells.
  if (agents.get(mail.from_id ?? '')?.model === WHAT_IF) return null;
  const who = `${clean(mail.from_name)} → ${clean(agents.get(mail.to_id)?.name ?? mail.to_id.slice(0, 8))}`;
  if (mail.kind === 'announce') {
    const { outcome } = JSON.parse(mail.body) as ChildResult;
    const end =
      outcome.type === 'success'
        ? `✓ announced: ${clean(resultLine(outcome.result, outcome.limit))}`
        : `✗ announced: ${nameOf(endWord(outcome.error_kind))}: ${clean(outcome.error)}`;
    return `${who}  ${end}`;
  }
  const { completion } = mail;
  return completion === undefined ? null : `${who}  ${clean(completionLine(completion))}`;
}

/** What people see of an event. */
export function shownEvent(event: RuntimeEvent): ShownEvent {
  switch (event.type) {
    case 'agent':
      return { agent: agentJson(event.agent) };
    case 'message':
      if (event.message.kind === 'assistant') return { script: scriptLines(event.message.content) };
      return event.message.kind === 'event' ? { notice: noticeOf(event.message.content) } : {};
    case 'mail':
      return { mail: event.mail };
    case 'notice':
      return { notice: event.text };
    case 'ledger':
      return { ledger: event.reachable ? event.text : `ledger: ${clean(event.text)}` };
    default:
      return {};
  }
}

/** What a script says with its calls; its last message is its result. */
function scriptLines({ model, parts }: AssistantContent): readonly string[] | undefined {
  if (model !== 'workflow' || !parts.some(({ type }) => type === 'call')) return undefined;
  return parts.flatMap((part) => (part.type === 'text' ? part.text.split('\n').map(clean) : []));
}

/** Returns the text of an event that a person should look at; undefined for other events. */
export function noticeOf({ text, data }: { text: string; data?: unknown }): string | undefined {
  return isJsonObject(data) && (data.about === 'suspicion' || data.about === 'limit') ? text : undefined;
}
