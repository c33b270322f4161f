import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { typedText } from '../../records/conversation/facts/message-facts.ts';
import { isPerson } from '../../records/conversation/facts/wait-row.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { type Answer, callsOf, isLast, type Past } from './past.ts';

/** How something led to an answer (`coppice/why/v1`). */
export type How = Exclude<DocumentOf<'coppice/why/v1'>['steps'][number]['how'], 'asked'>;

export interface Cause {
  readonly how: How;
  /** The message in which it reached the agent. */
  readonly into: number;
  /** Null: a person, or a timer. */
  readonly agent: Pick<Agent, 'id' | 'name'> | null;
  /** The answer that did it, or the message itself; null if it is no longer in the ledger. */
  readonly seq: number | null;
  readonly at: number;
  readonly text: string;
  /** Whether the agent's last answer had it before it, too. */
  readonly is_old?: boolean;
}

/** What somebody did, before it is looked up with which answer. */
interface Sent {
  readonly how: How;
  readonly into: number;
  readonly from_id: string;
  readonly name: string;
  readonly at: number;
  /** Whether it was sent at that time, when a turn ended. */
  readonly is_end?: boolean;
  readonly text: string;
}

/** Calls that act on other agents: that they were carried out tells nothing. */
const ACTS = new Set(ALL_TOOLSETS.flatMap(({ tools }) => tools.map(({ spec }) => spec.name)));

const PERSON = { agent: null } as const;

type Result = Extract<PlacedMessage, { kind: 'result' }>;

/** The messages that an agent's answer goes back to: those of its turn before `seq`, newest first, and its last answer among them. */
interface Turn {
  readonly messages: readonly PlacedMessage[];
  /** 0: none. */
  readonly last_answer: number;
}

async function turnBefore(past: Past, agent_id: string, seq: number, most: number): Promise<Turn> {
  const messages: PlacedMessage[] = [];
  let last_answer = 0;
  for await (const message of past.before(agent_id, seq)) {
    if (message.kind === 'assistant' && isLast(message)) break;
    if (message.kind === 'assistant') last_answer ||= message.seq;
    messages.push(message);
    if (messages.length >= most || isBirth(message)) break;
  }
  return { messages, last_answer };
}

function isBirth({ kind, content }: PlacedMessage): boolean {
  return kind === 'user' && (content.origin === 'identity' || content.origin === 'task');
}

/** What led to the answer at `seq`, the newest first. `own`: also results of its own calls. `most`: maximum messages that are read. */
export async function causesOf(
  past: Past,
  agent: Agent,
  seq: number,
  { own, most }: { readonly own: boolean; readonly most: number },
): Promise<Cause[]> {
  const { messages, last_answer } = await turnBefore(past, agent.id, seq, most);
  const first = messages.at(-1)?.seq ?? seq;
  const mail = (await past.mail(agent.id)).filter(
    ({ consumed_seq }) => consumed_seq !== null && consumed_seq >= first - 1 && consumed_seq < seq,
  );
  const told: Cause[] = [];
  for (const message of messages) {
    const found = [
      ...(await spoken(past, agent, message)),
      ...(await sentTo(past, message, mail)),
      ...(await fileRead(past, agent, message)),
    ];
    if (own && found.length === 0 && message.kind === 'result')
      found.push(...(await ownResult(past, agent, message)));
    told.push(...found.filter((one) => !told.some((other) => isSame(one, other))));
  }
  const is_begun = messages.some((message) => message.seq === 1 || isBirth(message));
  if (!is_begun) told.push(...(await beginning(past, agent, seq)));
  return told.map((one) => ({ ...one, is_old: one.into <= last_answer }));
}

const isSame = (one: Cause, other: Cause) =>
  one.how === other.how &&
  one.seq !== null &&
  one.seq === other.seq &&
  one.agent?.id === other.agent?.id &&
  (one.how !== 'file' || one.text === other.text);

/** What the agent was told with its first own message, for a turn that begins later. */
async function beginning(past: Past, agent: Agent, seq: number): Promise<Cause[]> {
  const is_fork = agent.origin === 'fork';
  const message = await past.message(agent.id, is_fork ? (agent.forked_from?.seq ?? 0) + 1 : 1);
  return message === undefined || message.seq >= seq ? [] : spoken(past, agent, message);
}

/** A prompt of a person, or the task with which the agent was created. */
async function spoken(past: Past, agent: Agent, message: PlacedMessage): Promise<Cause[]> {
  if (message.kind !== 'user') return [];
  const { seq, at, content } = message;
  const { origin, text, facts } = content;
  if (origin === 'human')
    return [{ how: 'prompt', into: seq, ...PERSON, seq, at, text: typedText(text, facts?.attached) }];
  if (origin !== 'identity' && origin !== 'task') return [];
  const task = origin === 'task' ? text : text.slice(facts?.fork?.task ?? text.length);
  const parent = agent.parent_id === null ? null : await past.agent(agent.parent_id);
  if (agent.parent_id === null) return [{ how: 'schedule', into: seq, ...PERSON, seq, at, text: task }];
  const answer =
    parent === null
      ? undefined
      : origin === 'identity'
        ? await past.answerBefore(agent.id, seq)
        : await past.answerAt(parent, agent.created_at);
  const by = { id: agent.parent_id, name: parent?.name ?? 'its parent' };
  return [
    { how: 'created', into: seq, agent: by, seq: answer?.seq ?? null, at: answer?.at ?? at, text: task },
  ];
}

/** What other agents told with this message: letters, reports, ends of children. */
async function sentTo(past: Past, message: PlacedMessage, mail: readonly Mail[]): Promise<Cause[]> {
  if (message.kind !== 'user' && message.kind !== 'result') return [];
  const { seq: into, at } = message;
  const { fan_in = [] } = message.kind === 'user' ? (message.content.facts ?? {}) : {};
  const { waited, created = [] } = message.kind === 'result' ? (message.content.facts ?? {}) : {};
  const sent: Sent[] = [];
  const prompts: Cause[] = [];
  const children = new Set([...fan_in.map(({ agent_id }) => agent_id), ...created]);
  // A call that does not await the agents that it creates has ended before they have.
  const isOutcomeHere = (from_id: string | null, sent_at: number) =>
    children.has(from_id ?? '') && sent_at <= at;
  for (const { kind, from_id, from_name: name, body: text, sent_at, consumed_seq } of mail) {
    const is_here = consumed_seq === into || (kind === 'outcome' && isOutcomeHere(from_id, sent_at));
    if (!is_here || kind === 'control' || kind === 'task') continue;
    if (from_id !== null) {
      const is_end = kind !== 'letter';
      const how = is_end ? 'end' : 'letter';
      sent.push({ how, into, from_id, name, at: sent_at, is_end, text: is_end ? '' : text });
    } else if (message.kind === 'result' || kind === 'event') {
      const how = kind === 'event' ? 'schedule' : 'prompt';
      prompts.push({ how, into, ...PERSON, seq: into, at: sent_at, text });
    }
  }
  // No mail stands for the last words of an agent that rests.
  const known = new Set(sent.map(({ from_id }) => from_id));
  for (const row of waited?.rows ?? []) {
    const text = row.message ?? row.last_reply ?? row.error;
    if (known.has(row.agent_id) || isPerson(row) || text === undefined) continue;
    const how = row.message === undefined ? 'end' : 'letter';
    sent.push({ how, into, from_id: row.agent_id, name: row.name, at, text });
  }
  return [...prompts, ...(await Promise.all(sent.map((one) => byAnswer(past, one))))];
}

/** Finds the answer with which it was sent. */
async function byAnswer(past: Past, { how, into, from_id, name, at, is_end, text }: Sent): Promise<Cause> {
  const agent = await past.agent(from_id);
  const answer = agent === null ? undefined : await past[is_end ? 'lastWords' : 'answerAt'](agent, at);
  const of = { id: from_id, name: agent?.name ?? (name || 'a removed agent') };
  return {
    ...{ how, into, agent: of, seq: answer?.seq ?? null, at: answer?.at ?? at },
    text: text === '' && answer !== undefined ? answerText(answer) : text,
  };
}

/** The call of another agent that wrote what this one read. */
async function fileRead(past: Past, { id }: Agent, message: PlacedMessage): Promise<Cause[]> {
  if (message.kind !== 'result' || message.content.file === undefined) return [];
  const { path, hash, before } = message.content.file;
  if (before !== undefined) return [];
  const change = (await past.changes(path)).find(
    ({ result, at }) => result.file.hash === hash && at <= message.at,
  );
  if (change === undefined || change.agent_id === id) return [];
  const answer = await past.answerBefore(change.agent_id, change.seq);
  const agent = { id: change.agent_id, name: change.agent_name };
  return [
    { how: 'file', into: message.seq, agent, seq: answer?.seq ?? change.seq, at: change.at, text: path },
  ];
}

async function ownResult(past: Past, agent: Agent, { seq, at, content }: Result): Promise<Cause[]> {
  const { call_id, name, status, output } = content;
  if (status === 'ok' && ACTS.has(name)) return [];
  const answer = await past.answerBefore(agent.id, seq);
  const call = answer && callsOf(answer).find(({ id }) => id === call_id);
  const text = `${call === undefined ? name : callText(call)}${status === 'ok' ? '' : ` (${status})`} → ${output}`;
  return [{ how: 'call', into: seq, agent, seq: answer?.seq ?? seq, at, text }];
}

/** A call in words: its tool, and the first text among its arguments. */
export function callText({ read, name, input }: CallPart): string {
  const values = Object.values(parsedObject(read?.input ?? input) ?? {});
  return `${read?.name ?? name} ${values.find((value) => typeof value === 'string') ?? ''}`.trim();
}

/** What an answer said, or what it called. */
export function answerText(answer: Answer): string {
  const said = assistantText(answer.content);
  return said.trim() === '' ? callsOf(answer).map(callText).join('; ') : said;
}

export function messageText(message: PlacedMessage): string {
  if (message.kind === 'assistant') return answerText(message);
  return 'text' in message.content ? message.content.text : message.content.output;
}
