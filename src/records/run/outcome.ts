import { type Agent, isTask, type Origin } from '../agent/agent.ts';
import { deedsOf } from '../agent/deeds-line.ts';
import { deniedIn, deniedLine } from '../agent/denied.ts';
import type { FailureKind, Pause } from '../agent/failure.ts';
import { namedLimit } from '../agent/limits.ts';
import { type AgentState, failureOf, isFanIn, isTerminal, isWorking, type WaitSpec } from '../agent/state.ts';
import { cutShort } from '../conversation/child-text.ts';
import { isParked, namesNoTime, openAsks, pauseOf } from '../conversation/parked.ts';
import { cutText } from '../text/cut-text.ts';
import { counted } from '../text/text.ts';

/*
 * How an agent, a tree and a run stand, in one word and in one line (docs/guarantees.md#outcomes). Every face that tells people or programs about it takes it
 * from here; the statuses of the vocabularies and of older documents stand beside it.
 */

export const OUTCOMES = [
  ...(['working', 'waiting', 'waiting_for_you', 'unled'] as const),
  ...(['done', 'cut_short', 'declined', 'stopped', 'failed'] as const),
] as const;

export type OutcomeWord = (typeof OUTCOMES)[number];

export interface Outcome {
  readonly outcome: OutcomeWord;
  /** The same in words, on one line: `cut short: limit reached: …`. Not cleaned: it can quote models and providers. */
  readonly outcome_text: string;
  /** The end of `outcome_text`, where a person can let it go on: what to do, with the command. */
  readonly how_on?: string | undefined;
}

/** The outcome of an agent among those of its tree. `error`: as in its document. */
export type Standing = Outcome & {
  readonly id: string;
  readonly error: object | null;
  /** Set if it waits for a provider. */
  readonly paused?: object | null;
};

type OutcomeFacts = Pick<Agent, 'state'> &
  Partial<Pick<Agent, 'origin' | 'unread' | 'doing' | 'updated_at' | 'reply' | 'root_id' | 'config'>>;

/** Maximum characters of the first error of other agents. */
const ERROR_MAX = 160;

export type EndWord = 'failed' | 'cut_short' | 'declined' | 'stopped';

const OF_KIND: Partial<Record<FailureKind, EndWord>> = {
  ...({ refused: 'declined', limit: 'cut_short', timed_out: 'cut_short' } as const),
  ...({ cancelled: 'stopped', killed: 'stopped' } as const),
};

/** The word for the end of a turn or a task of this kind. */
export function endWord(kind: string): EndWord {
  return OF_KIND[kind as FailureKind] ?? 'failed';
}

/** The outcome of one agent. `unled`: why no process leads its tree; null if one does, or if nothing is left to do. */
export function outcomeOf(agent: OutcomeFacts, unled: string | null = null): Outcome {
  const { state, doing } = agent;
  const queued = state.type === 'idle' && agent.origin !== undefined && isTask(agent.origin);
  const rests = !isWorking(state.type) && !queued;
  if (rests && (agent.unread !== true || isTerminal(state.type))) return ended(agent);
  const pause = pauseOf(state);
  if (pause !== null) return ofPause(pause, unled);
  const asked = openAsks(state).length;
  if (asked > 0) return forYou(asked);
  if (unled !== null) return outcomeWithText('unled', unled);
  const own = (agent.reply ?? null) === null ? 'its turn' : 'its agents';
  const what = queued ? own : waitedFor(state, agent.updated_at ?? 0);
  if (what !== null) return { outcome: 'waiting', outcome_text: `waiting for ${what}` };
  return outcomeWithText('working', doing ?? '');
}

/** The outcome of a tree, from those of its agents. `total`: agents that it ever had. Of those that have ended, only those that did not end well must be among `agents`. */
export function treeOutcome(root_id: string, agents: readonly Standing[], total = agents.length): Outcome {
  const [root, others] = [agents.find(({ id }) => id === root_id), agents.filter(({ id }) => id !== root_id)];
  const all = root === undefined ? others : [root, ...others];
  const found = (word: OutcomeWord) => all.filter(({ outcome }) => outcome === word);
  const [asking, working] = [found('waiting_for_you'), found('working')];
  const approvals = asking.filter(({ paused }) => paused == null);
  if (approvals.length > 1) return forYou(approvals.length);
  // What all the others wait for in the end.
  const [provider] = found('waiting').filter(({ paused }) => paused != null);
  const open =
    approvals[0] ?? asking[0] ?? found('unled')[0] ?? working[0] ?? provider ?? found('waiting')[0];
  if (open !== undefined && open === working[0] && open !== root)
    return outcomeWithText('working', `${working.length} of ${total} agents`);
  const head = open ?? root ?? outcomeWithText('done', '');
  const { outcome } = head;
  if (outcome !== 'done' && outcome !== 'cut_short')
    return goingOn({ outcome, outcome_text: textAlone(head) }, head.how_on);
  const failed = others.filter((one) => one.outcome === 'failed' || one.outcome === 'declined');
  const cut = outcome === 'done' ? others.filter((one) => one.outcome === 'cut_short') : [];
  const parts = [partOf(failed, 'failed', total - 1, head), partOf(cut, 'cut short', total - 1, head)];
  const how_on = [head, failed[0], cut[0]].find((one) => one?.how_on !== undefined)?.how_on;
  return goingOn({ outcome, outcome_text: `${textAlone(head)}${parts.join('')}` }, how_on);
}

/** As `treeOutcome`, of agents as the ledger has them. */
export function outcomeOfTree(
  root_id: string,
  all: readonly Agent[],
  total?: number,
  unled?: string,
): Outcome {
  const standing = (agent: Agent): Standing => {
    const { id, state } = agent;
    return { ...outcomeOf(agent, unled), id, error: failureOf(state), paused: pauseOf(state) };
  };
  return treeOutcome(root_id, all.map(standing), total);
}

/** Ends that are no success, although there may be a reply. */
export const UNSUCCESSFUL: ReadonlySet<OutcomeWord> = new Set(['cut_short', 'declined', 'stopped', 'failed']);

/** Statuses that do not tell how the last turn ended, or what is waited for. */
const SILENT: ReadonlySet<string> = new Set(['idle', 'waiting', 'done', 'completed', 'error', 'failed']);
const TELLING = ['waiting_for_you', 'cut_short', 'declined', 'stopped'] as const;
type Telling = (typeof TELLING)[number];

/** The word that people see of something with a status of its own: that, or its outcome where the status would hide it. */
export function shownWord<S extends string>(
  status: S,
  outcome: string,
  outcome_text = '',
): S | Telling | 'failed' | 'rests' {
  if (restsCut({ outcome, outcome_text })) return 'rests';
  if (outcome === 'failed' && /^(done|completed|idle|dead)$/.test(status)) return outcome;
  return (SILENT.has(status) ? TELLING.find((word) => word === outcome) : undefined) ?? status;
}

/** Why no process leads a tree that was cut from another, and that nobody has let go on. */
export const CUT_RESTS = 'it rests where it was cut';

/** Whether this is of such a tree, which needs nobody. */
export function restsCut({ outcome, outcome_text }: Record<'outcome' | 'outcome_text', string>): boolean {
  return outcome === 'unled' && outcome_text.endsWith(CUT_RESTS);
}

/** The word as people read it. */
export function nameOf(outcome: string): string {
  return outcome.replaceAll('_', ' ');
}

/** The calls of a scheduled run that were denied, in words, and whether it did anything else: otherwise it has failed. */
export function deniedToRun(state: AgentState, origin?: Origin): { line: string; did: boolean } | null {
  const { calls = {}, children, denied, denied_below } = deedsOf(state) ?? {};
  const line = origin === 'cron' ? deniedLine(deniedIn(denied, denied_below)) : null;
  const created = children !== undefined || denied_below !== undefined;
  const did = created || Object.values(calls).some(({ made, failed }) => made > failed);
  return line === null ? null : { line, did };
}

function ended(agent: OutcomeFacts): Outcome {
  const { state, origin } = agent;
  // Whoever has failed stays so when its creator ends; a person who ends it has dealt with that.
  const failure = (state.type === 'killed' && state.by !== 'you' && state.failure) || failureOf(state);
  if (failure !== null) {
    const word = endWord(failure.kind);
    const why = `${word === 'failed' ? `${failure.kind}: ` : ''}${failure.error}`;
    return withHowOn(word, why, agent);
  }
  if (state.type === 'idle' && state.stopped_by !== undefined)
    return { outcome: 'stopped', outcome_text: `stopped by ${oneLine(state.stopped_by)}` };
  const limit = cutShort(state);
  const denied = state.type === 'completed' ? deniedToRun(state, origin) : null;
  if (denied?.did === false)
    return outcomeWithText('failed', `${limit === null ? '' : `${limit}; `}${denied.line}`);
  return limit === null ? outcomeWithText('done', '') : withHowOn('cut_short', limit, agent);
}

/** The outcome with `how_on` as the end of its text, if there is any. */
export function goingOn({ outcome, outcome_text }: Outcome, how_on: string | undefined): Outcome {
  if (how_on === undefined) return { outcome, outcome_text };
  return { outcome, outcome_text: `${outcome_text}. ${how_on}`, how_on };
}

/** The text without `how_on`. */
export function textAlone({ outcome_text, how_on }: Outcome): string {
  return how_on === undefined ? outcome_text : outcome_text.slice(0, -`. ${how_on}`.length);
}

/** As it is stored: `how_on` is the end of its text already. */
export function storedOutcome({ outcome, outcome_text }: Outcome): Pick<Outcome, 'outcome' | 'outcome_text'> {
  return { outcome, outcome_text };
}

/** With the command that goes on after a limit of the tree, of an agent that can go on. Commands that print it name the ledger, too (`withSameLedger`). */
function withHowOn(word: EndWord, why: string, { state, root_id, config }: OutcomeFacts): Outcome {
  const [named, told] = [namedLimit(why), outcomeWithText(word, why)];
  if (named === null || root_id === undefined || config === undefined || isTerminal(state.type)) return told;
  const { limit, was, raised } = named;
  const resume = `coppice resume ${root_id.slice(0, 8)}`;
  // A higher limit of the tree does not raise that of a profile; a time that a budget gave is over.
  if ((limit === 'turns' || limit === 'run_ms') && config[limit] === was)
    return goingOn(told, `Its profile sets this limit. To continue for as long again: ${resume} --retry`);
  const is_over = limit === 'run_ms' && config.budgets?.some(({ until }) => until !== undefined);
  if (is_over) return told;
  const limit_alone = outcomeWithText(word, why.replace(/\. A person can raise it \(.*$/, ''));
  return goingOn(limit_alone, `To raise it and continue: ${resume} --limit ${raised}`);
}

function forYou(many: number): Outcome {
  return outcomeWithText('waiting_for_you', counted(many, 'approval'));
}

/** What a working agent waits for, and until when; null if it does not only wait. */
function waitedFor(state: AgentState, since: number): string | null {
  if (isFanIn(state)) return counted(state.pending.length, 'agent');
  if (state.type === 'waiting') return waitText(state.wait, since);
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const wait = state.running.find((one) => one.wait !== undefined)?.wait;
  return wait === undefined ? counted(state.running.length, 'agent') : waitText(wait, since);
}

function waitText({ from, deadline }: WaitSpec, since: number): string {
  return `${from === null ? 'a message' : counted(from.length, 'agent')} until ${timeText(deadline, since)}`;
}

/** The time is local, with its date unless it is near, and its year if it is far. */
function timeText(at: number, since: number): string {
  const [, month, day, year, time = ''] = new Date(at).toString().split(' ');
  const date = at - since < 15_552_000_000 ? `${month} ${day}, ` : `${month} ${day} ${year}, `;
  return `${at - since < 43_200_000 ? '' : date}${time.slice(0, 5)}`;
}

/** A request that waits for its provider: until the time that it named, or until a person has done something about it. */
function ofPause(
  { spent, text, failure, opens_at, tries, at, told_at = at }: Pause,
  unled: string | null,
): Outcome {
  if (spent === 'person') return outcomeWithText('waiting', failure.error);
  const time = opens_at === null ? null : timeText(opens_at, told_at);
  if (time === null || (tries > 0 && (spent === 'key' || spent === 'model'))) {
    const again = time === null ? '' : `; next try at ${time}`;
    return outcomeWithText('waiting_for_you', `${text} (${failure.error}${again})`);
  }
  const until = namesNoTime({ spent, tries }) ? `(next try at ${time})` : `until ${time}`;
  if (unled !== null) return outcomeWithText('unled', `waiting for ${text} ${until}; ${unled}`);
  return { outcome: 'waiting', outcome_text: oneLine(`waiting for ${text} ${until}`) };
}

/** `, 1 of 7 failed: auth: …`, with the first error unless `head` has it; empty if none did. */
function partOf(some: readonly Outcome[], word: string, all: number, head: Outcome): string {
  const [first] = some;
  if (first === undefined) return '';
  const why = textAlone(first).replace(/^[^:]*(: )?/, '');
  const more = head.outcome_text.includes(why) ? '' : `: ${cutText(why, ERROR_MAX, '…')}`;
  return `, ${some.length} of ${all} ${word}${more}`;
}

/** Both parts of an outcome; `why` may be empty. */
export function outcomeWithText(outcome: OutcomeWord, why: string): Outcome {
  const text = oneLine(why);
  return { outcome, outcome_text: text === '' ? nameOf(outcome) : `${nameOf(outcome)}: ${text}` };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
