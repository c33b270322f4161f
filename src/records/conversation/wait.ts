import type { Agent } from '../agent/agent.ts';
import { deedsLine } from '../agent/deeds-line.ts';
import { type Call, isTerminal, isWorking, type WaitSpec } from '../agent/state.ts';
import { allTexts, cutShort } from './child-text.ts';
import { completionFrom } from './completion.ts';
import { isLetter, type Mail } from './mail.ts';
import type { Image, ResultContent } from './message.ts';

/** Status of an awaited agent; exactly these four (docs/vocabularies.md). */
export type WaitStatus = 'received' | 'running' | 'idle' | 'dead';

export interface WaitRow {
  readonly agent_id: string;
  readonly name: string;
  readonly status: WaitStatus;
  /** The mail's text, for `received`. */
  readonly message?: string;
  /** Text of its last turn, for an `idle` agent that sent its parent no mail in it; for its parent, of all turns that were not reported to it yet. */
  readonly last_reply?: string;
  /** Why its turn failed, if it did. */
  readonly error?: string;
  /** The limit that cut its turn short. */
  readonly limit?: string;
  /** Summary of what it actually did since its last input (`deedsLine`). */
  readonly did?: string;
}

export interface WaitView {
  readonly now: number;
  /** The waiter's unread mail, oldest first. */
  readonly inbox: readonly Mail[];
  readonly agent: (id: string) => Agent | undefined;
  /** Whether the waiter has an unread letter from this agent. */
  readonly hasLetterFrom: (id: string) => boolean;
  /** Whether the agent has waking mail, so that it is about to work even if it rests now. */
  readonly hasMail: (agent: Agent) => boolean;
}

/** The end of a wait: what the call returns and the mail that it consumes (law 6, docs/ledger.md). */
export interface WaitEnd {
  readonly output: string;
  readonly consume: readonly string[];
  /** Pictures of a person's letter. */
  readonly images?: readonly Image[];
  /** Rows with the last reply of an agent of which no mail was taken. */
  readonly unsent?: readonly WaitRow[];
}

/** Reason for ending a wait before all agents have answered. */
export type WaitCut = 'timeout' | 'interrupted';

/** Whether there is nothing left to wait for: the agent has sent a letter, rests or is dead. */
export function isAnswered(id: string, view: WaitView): boolean {
  // Read the status before the inbox: mail sent before the end of the turn is then guaranteed to be visible.
  const agent = view.agent(id);
  const resting = agent === undefined || !atWork(agent, view);
  return view.hasLetterFrom(id) || resting;
}

/** Whether the agent is alive, not working, and has no waking mail. */
export function isAtRest(agent: Agent, view: WaitView): boolean {
  return !isTerminal(agent.state.type) && !atWork(agent, view);
}

/** A child before its first turn counts as running, and so does an agent with waking mail. */
function atWork(agent: Agent, view: WaitView): boolean {
  return isWorking(agent.state.type) || (!isTerminal(agent.state.type) && view.hasMail(agent));
}

/** Ends a wait. Without `from`, returns the first letter from anyone; with `from`, one row for every listed agent. */
export function endWait(wait: WaitSpec, view: WaitView, cut: WaitCut | null): WaitEnd {
  return wait.from === null ? endNextMessage(view, cut) : endFanIn(wait.from, view, cut);
}

/** The result of the `wait` call. */
export function waitResult(
  { id, name }: Pick<Call, 'id' | 'name'>,
  { output, images }: WaitEnd,
): ResultContent {
  return { call_id: id, name, status: 'ok', output, ...(images === undefined ? {} : { images }) };
}

function endNextMessage(view: WaitView, cut: WaitCut | null): WaitEnd {
  const letter = view.inbox.find(isLetter);
  if (letter === undefined) return { output: JSON.stringify({ status: cut ?? 'timeout' }), consume: [] };
  const is_report = letter.kind === 'report';
  const output = JSON.stringify({
    status: is_report ? 'idle' : 'received',
    agent_id: letter.from_id ?? 'human',
    name: letter.from_name,
    ...(is_report ? reported([letter]) : { message: letter.body }),
    sent_at: new Date(letter.sent_at).toISOString(),
    ...didOf(letter.did),
  });
  const { images } = letter;
  return { output, consume: [letter.id], ...(images === undefined ? {} : { images }) };
}

function endFanIn(from: readonly string[], view: WaitView, cut: WaitCut | null): WaitEnd {
  const first = new Map<string, Mail>();
  for (const mail of view.inbox) {
    if (mail.kind === 'letter' && mail.from_id !== null && !first.has(mail.from_id))
      first.set(mail.from_id, mail);
  }
  const reports = Map.groupBy(
    view.inbox.filter(({ kind }) => kind === 'report'),
    ({ from_id }) => from_id,
  );
  const results = from.map((id) => row(id, view, first.get(id), reports.get(id) ?? []));
  const consume = results.flatMap(({ agent_id: id, status }) => [
    ...(first.has(id) ? [(first.get(id) as Mail).id] : []),
    ...(status === 'running' ? [] : (reports.get(id) ?? []).map((report) => report.id)),
  ]);
  const mark = cut === null ? {} : cut === 'timeout' ? { timed_out: true } : { interrupted: true };
  const open = results.filter(({ status }) => status === 'running').length;
  const note = open === 0 ? {} : { note: `${open} of ${results.length} agents have not answered` };
  const unsent = results.filter((one) => one.last_reply !== undefined && !reports.has(one.agent_id));
  return { output: JSON.stringify({ results, ...mark, ...note }), consume, unsent };
}

function row(id: string, view: WaitView, letter: Mail | undefined, reports: readonly Mail[]): WaitRow {
  const agent = view.agent(id);
  const name = agent?.name ?? id;
  if (letter !== undefined)
    return {
      ...{ agent_id: id, name, status: 'received', message: letter.body },
      ...reported(reports),
      ...didOf(letter.did),
    };
  const did = didOf(agent === undefined ? undefined : deedsLine(agent, view.now));
  if (agent === undefined || isTerminal(agent.state.type))
    return { agent_id: id, name, status: 'dead', ...reported(reports), ...did };
  if (atWork(agent, view)) return { agent_id: id, name, status: 'running', ...did };
  const limit = cutShort(agent.state);
  const unreported = !agent.reply || agent.sent_this_turn ? {} : { last_reply: agent.reply };
  return {
    agent_id: id,
    name,
    status: 'idle',
    ...(reports.length > 0 ? reported(reports, limit) : unreported),
    ...(agent.state.type === 'errored' ? { error: agent.state.failure.error } : {}),
    ...(limit === null ? {} : { limit }),
    ...did,
  };
}

/** What a child's reports say, oldest first: its words, and why its newest turn failed. `limit`: a reason that its row gives anyway. */
function reported(reports: readonly Mail[], limit: string | null = null): Partial<WaitRow> {
  const ends = reports.flatMap(({ body }) => completionFrom(body) ?? []);
  const newest = ends.at(-1);
  const error = newest?.success === false && newest.error !== limit ? { error: newest.error } : {};
  const last_reply = allTexts(
    ...ends.flatMap((end) =>
      end.success ? [end.summary] : [end.partial, end === newest ? undefined : end.error],
    ),
  );
  return { ...(last_reply === '' ? {} : { last_reply }), ...error };
}

function didOf(did: string | undefined): { did?: string } {
  return did === undefined ? {} : { did };
}
