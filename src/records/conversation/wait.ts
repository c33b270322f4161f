import { type Agent, isActive } from '../agent/agent.ts';
import { deedsLine } from '../agent/deeds-line.ts';
import {
  awaitsAnyone,
  type Call,
  isFanIn,
  isTerminal,
  isWorking,
  onlyWaits,
  type WaitSpec,
  waitsOf,
} from '../agent/state.ts';
import { allTexts, cutShort } from './child-text.ts';
import type { ResultFacts } from './facts/message-facts.ts';
import { PERSON, type WaitCut, type WaitResult, type WaitRow, type WaitStatus } from './facts/wait-row.ts';
import { isLetter, type Mail } from './mail.ts';
import type { Image, ResultContent } from './message.ts';

/** Statuses of agents that will go on. */
const OPEN: ReadonlySet<WaitStatus> = new Set(['running', 'waits_for_you']);
/** How many agents a wait for the next message tells about, newest last. */
const MOST_ROWS = 16;
export interface WaitView {
  readonly now: number;
  readonly self: string;
  /** All agents of the tree. */
  readonly members: () => readonly Agent[];
  /** The waiter's unread mail, oldest first. */
  readonly inbox: readonly Mail[];
  readonly agent: (id: string) => Agent | undefined;
  /** Whether the waiter has an unread letter from this agent. */
  readonly hasLetterFrom: (id: string) => boolean;
  /** Whether the agent has waking mail, so that it is about to work even if it rests now; with `from_id`, an unread letter of that agent. */
  readonly hasMail: (agent: Agent, from_id?: string) => boolean;
  /** Whether a background run that it started works: the end of the run wakes it. */
  readonly hasRun: (agent: Agent) => boolean;
}

/** The end of a wait: what the call returns and the mail that it consumes (law 6, docs/ledger.md). */
export interface WaitEnd {
  readonly output: string;
  readonly facts: ResultFacts & { readonly waited: WaitResult };
  readonly consume: readonly string[];
  /** Pictures of a person's letter. */
  readonly images?: readonly Image[];
  /** Rows with the last reply of an agent of which no mail was taken. */
  readonly unsent?: readonly WaitRow[];
}

/** Whether there is nothing left to wait for: the agent has sent a letter, rests or is dead. */
export function isAnswered(id: string, view: WaitView): boolean {
  // Read the status before the inbox: mail sent before the end of the turn is then guaranteed to be visible.
  const agent = view.agent(id);
  const resting = agent === undefined || !mayAnswer(agent, view);
  return view.hasLetterFrom(id) || resting;
}

/** Whether nobody will write to the waiter: every other agent rests, is dead, or waits for what none of them will do. A person does not count. */
export function nobodyWorks(view: WaitView): boolean {
  return !view.members().some((agent) => agent.id !== view.self && goesOn(agent, view));
}

function goesOn(agent: Agent, view: WaitView): boolean {
  if (!onlyWaits(agent.state)) return atWork(agent, view);
  const hasEnded = (id: string): boolean => {
    const other = view.agent(id);
    if (other === undefined || view.hasMail(agent, id)) return true;
    return id !== view.self && (!mayAnswer(other, view) || awaitedAlong([id], view).has(agent.id));
  };
  // Whoever has a letter of the waiter is freed (`isNeeded`).
  return waitsOf(agent.state).some(({ from }) =>
    from?.length ? from.every(hasEnded) || view.hasMail(agent, view.self) : view.hasMail(agent),
  );
}

/** These agents, and for whom they wait, directly or not, along those that `lasts` and that have no letter of the one that they wait for. */
function awaitedAlong(ids: readonly string[], view: WaitView, lasts = (_: Agent) => true): Set<string> {
  const found = new Set(ids);
  for (const id of found) {
    const agent = view.agent(id);
    if (agent !== undefined && lasts(agent))
      for (const next of onlyAwaited(agent)) if (!view.hasMail(agent, next)) found.add(next);
  }
  return found;
}

/** For whom an agent waits by their ids that does nothing but wait. */
function onlyAwaited(agent: Agent | undefined): readonly string[] {
  return agent && onlyWaits(agent.state) ? waitsOf(agent.state).flatMap(({ from }) => from ?? []) : [];
}

/** Whether the agent waits for the waiter: by its id, or for the next message after it has written to it. */
function waitsForYou(agent: Agent, view: WaitView): boolean {
  return (
    onlyAwaited(agent).includes(view.self) || (awaitsAnyone(agent.state) && view.hasLetterFrom(agent.id))
  );
}

/**
 * Whether somebody needs the waiter before all of `from` have answered: a person or an agent that is not listed has written, or a listed one has asked, or
 * waits for it, directly or not, in a circle in which no wait ends before this one. `waiters`: agents that may wait for it.
 */
export function isNeeded({ from, deadline }: WaitSpec, view: WaitView, waiters: Iterable<string>): boolean {
  const isStranger = ({ kind, from_id }: Mail) =>
    kind === 'letter' && (from_id === null || !from?.includes(from_id));
  if (view.inbox.some(isStranger)) return true;
  const asks = ({ kind, from_id }: Mail): boolean => {
    const writer = kind === 'letter' && from_id !== null ? view.agent(from_id) : undefined;
    return writer !== undefined && waitsForYou(writer, view) && !view.hasMail(writer, view.self);
  };
  const lasts = (other: Agent): boolean => {
    const last = Math.max(...waitsOf(other.state).map((wait) => wait.deadline));
    return deadline < last || (deadline === last && view.self < other.id);
  };
  const isAwaited = [...waiters].some((id) => onlyAwaited(view.agent(id)).includes(view.self));
  return view.inbox.some(asks) || (isAwaited && awaitedAlong(from ?? [], view, lasts).has(view.self));
}

/** Whether the agent is alive, not working, and has no waking mail. */
export function isAtRest(agent: Agent, view: WaitView): boolean {
  return !isTerminal(agent.state.type) && !atWork(agent, view);
}

/** A child before its first turn counts as running, and so does an agent with waking mail. */
function atWork(agent: Agent, view: WaitView): boolean {
  // Mail is looked for only where the state does not decide: it is read from the ledger.
  return isWorking(agent.state.type) || isActive({ state: agent.state, unread: view.hasMail(agent) });
}

function mayAnswer(agent: Agent, view: WaitView): boolean {
  return atWork(agent, view) || (!isTerminal(agent.state.type) && view.hasRun(agent));
}

/** Ends a wait. Without `from`, returns the first letter from anyone; with `from`, one row for every listed agent. */
export function endWait(wait: WaitSpec, view: WaitView, cut: WaitCut | null): WaitEnd {
  return wait.from?.length ? endFanIn(wait.from, view, cut) : endNextMessage(view, cut);
}

export function waitResult(
  { id, name }: Pick<Call, 'id' | 'name'>,
  { output, facts, images }: WaitEnd,
): ResultContent {
  return { call_id: id, name, status: 'ok', output, facts, ...(images === undefined ? {} : { images }) };
}

function endNextMessage(view: WaitView, cut: WaitCut | null): WaitEnd {
  const letter = view.inbox.find(isLetter);
  if (letter === undefined) {
    const isTold = ({ id, parent_id, state }: Agent) =>
      id !== view.self && (parent_id === view.self || !isTerminal(state.type));
    const others = view.members().filter(isTold).slice(-MOST_ROWS);
    const agents = others.map(({ id }) => row(id, view, undefined, []));
    const output = JSON.stringify({ status: cut ?? 'nobody_works', agents });
    return { output, facts: { waited: { rows: agents, cut } }, consume: [] };
  }
  const is_report = letter.kind === 'report';
  const told: WaitRow = {
    agent_id: letter.from_id ?? PERSON,
    name: letter.from_id === null ? PERSON : letter.from_name,
    status: is_report ? 'idle' : 'received',
    ...(is_report ? reported([letter]) : { message: letter.body }),
  };
  const { status, ...said } = told;
  const sent_at = new Date(letter.sent_at).toISOString();
  const did = didOf(letter.did);
  const output = JSON.stringify({ status, ...said, sent_at, ...did });
  return { output, ...factsOf([{ ...told, ...did }], null, letter), consume: [letter.id] };
}

function endFanIn(from: readonly string[], view: WaitView, cut: WaitCut | null): WaitEnd {
  const first = new Map<string, Mail>();
  for (const mail of view.inbox) {
    const id = mail.from_id ?? PERSON;
    if (mail.kind === 'letter' && !first.has(id)) first.set(id, mail);
  }
  const reports = Map.groupBy(
    view.inbox.filter(({ kind }) => kind === 'report'),
    ({ from_id }) => from_id,
  );
  const listed = from.map((id) => row(id, view, first.get(id), reports.get(id) ?? []));
  const waiters = view.members().filter((agent) => onlyAwaited(agent).includes(view.self));
  const others = new Set([...first.keys(), ...waiters.map(({ id }) => id)]).difference(new Set(from));
  const asks = { status: 'waits_for_you' } as const;
  const needy = [...others].map((id) => ({ ...row(id, view, first.get(id), []), ...asks }));
  const results = [...listed, ...needy];
  const consume = results.flatMap(({ agent_id: id, status }) => [
    ...(first.has(id) ? [(first.get(id) as Mail).id] : []),
    ...(OPEN.has(status) && !first.has(id) ? [] : (reports.get(id) ?? []).map((report) => report.id)),
  ]);
  const mark = cut === null ? {} : cut === 'timeout' ? { timed_out: true } : { interrupted: true };
  const open = listed.filter((one) => one.message === undefined && OPEN.has(one.status)).length;
  const note = open === 0 ? {} : { note: `${open} of ${listed.length} agents have not answered` };
  const unsent = results.filter((one) => one.last_reply !== undefined && !reports.has(one.agent_id));
  const output = JSON.stringify({ results, ...mark, ...note });
  return { output, ...factsOf(results, cut, first.get(PERSON)), consume, unsent };
}

/** What a wait returned besides its text; `letter`: the one of which pictures and attachments count. */
function factsOf(
  rows: readonly WaitRow[],
  cut: WaitCut | null,
  letter?: Mail,
): Pick<WaitEnd, 'facts' | 'images'> {
  const { images, attached } = letter ?? {};
  const facts = { waited: { rows, cut }, ...(attached && { attached }) };
  return images === undefined ? { facts } : { facts, images };
}

function row(id: string, view: WaitView, letter: Mail | undefined, reports: readonly Mail[]): WaitRow {
  const agent = view.agent(id);
  const name = agent?.name ?? (letter?.from_id ? letter.from_name : id);
  const needs_you = agent !== undefined && waitsForYou(agent, view);
  if (letter !== undefined)
    return {
      ...{ agent_id: id, name, status: needs_you ? 'waits_for_you' : 'received', message: letter.body },
      ...reported(reports),
      ...didOf(letter.did),
    };
  const did = didOf(agent === undefined ? undefined : deedsLine(agent, view.now));
  if (agent === undefined || isTerminal(agent.state.type))
    return { agent_id: id, name, status: 'dead', ...reported(reports), ...did };
  if (needs_you) return { agent_id: id, name, status: 'waits_for_you', ...did };
  if (mayAnswer(agent, view))
    return { agent_id: id, name, status: 'running', ...waitedFor(agent, view), ...did };
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

/** What an agent that does nothing else waits for. */
function waitedFor({ state }: Agent, view: WaitView): Partial<WaitRow> {
  const lists = isFanIn(state) ? [state.pending] : waitsOf(state).map(({ from }) => from ?? []);
  if (!isFanIn(state) && !onlyWaits(state)) return {};
  const names = lists.flatMap((ids) =>
    ids.length > 0 ? ids.map((id) => view.agent(id)?.name ?? id) : ['anyone'],
  );
  return { waits_for: names.slice(0, MOST_ROWS) };
}

/** What a child's reports say, oldest first: its words, and why its newest turn failed. `limit`: a reason that its row gives anyway. */
function reported(reports: readonly Mail[], limit: string | null = null): Partial<WaitRow> {
  const ends = reports.flatMap(({ completion }) => completion ?? []);
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
