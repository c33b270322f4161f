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

/** Something that led to an answer (`coppice/why/v1`). */
export interface Cause {
  readonly how: Exclude<DocumentOf<'coppice/why/v1'>['steps'][number]['how'], 'asked'>;
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

/** Calls that act on other agents: that they were carried out tells nothing. */
const ACTS = new Set(ALL_TOOLSETS.flatMap(({ tools }) => tools.map(({ spec }) => spec.name)));

const PERSON = { agent: null } as const;

function isBirth({ kind, content }: PlacedMessage): boolean {
  return kind === 'user' && (content.origin === 'identity' || content.origin === 'task');
}

/**
 * What led to the answer at `seq`, in its turn and at the birth of its agent. `own`: also results of its own calls. `most`: maximum messages that are
 * read; `most_causes`: of more that came with one message, the others are not looked up.
 */
export async function causesOf(
  past: Past,
  agent: Agent,
  seq: number,
  { own, most, most_causes }: { readonly own: boolean; readonly most: number; readonly most_causes: number },
): Promise<Cause[]> {
  const turn: PlacedMessage[] = [];
  for await (const message of past.before(agent.id, seq)) {
    if (message.kind === 'assistant' && isLast(message)) break;
    turn.push(message);
    if (turn.length >= most || isBirth(message)) break;
  }
  const last_answer = turn.find(({ kind }) => kind === 'assistant')?.seq ?? 0;
  const first = turn.at(-1)?.seq ?? seq;
  const mail = (await past.mail(agent)).filter(
    ({ consumed_seq: at }) => at !== null && at >= first - 1 && at < seq,
  );
  const told: Cause[] = [];
  for (const message of turn) {
    const found = [
      ...(await spoken(past, agent, message)),
      ...(await sentTo(past, message, mail, most_causes)),
      ...(await fileRead(past, agent, message)),
    ];
    if (own && found.length === 0) found.push(...(await ownResult(past, agent, message)));
    told.push(...found.filter((one) => !told.some((other) => isSame(one, other))));
  }
  if (!turn.some((message) => message.seq === 1 || isBirth(message)))
    told.push(...(await beginning(past, agent, seq)));
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
async function sentTo(
  past: Past,
  message: PlacedMessage,
  mail: readonly Mail[],
  most: number,
): Promise<Cause[]> {
  if (message.kind !== 'user' && message.kind !== 'result') return [];
  const { seq: into, at } = message;
  const { fan_in = [] } = message.kind === 'user' ? (message.content.facts ?? {}) : {};
  const { waited, created = [] } = message.kind === 'result' ? (message.content.facts ?? {}) : {};
  const children: readonly unknown[] = [...fan_in.map(({ agent_id }) => agent_id), ...created];
  const prompts: Cause[] = [];
  const sent: Promise<Cause>[] = [];
  const known = new Set<string>();
  const look = () => (sent.length < most ? past : null);
  for (const { kind, from_id, from_name: name, body: text, sent_at, consumed_seq } of mail) {
    // An outcome may leave the mailbox before it is told, with the result of the call that created its agent.
    const is_here =
      kind === 'outcome'
        ? sent_at <= at && (consumed_seq === into || children.includes(from_id))
        : consumed_seq === into;
    if (!is_here || kind === 'control' || kind === 'task') continue;
    const of = { into, seq: null, at: sent_at };
    if (from_id !== null) {
      known.add(from_id);
      const agent = { id: from_id, name };
      if (kind === 'letter')
        sent.push(byAnswer(look(), { ...of, how: 'letter', agent, text }, agent, 'answerAt'));
      else sent.push(byAnswer(look(), { ...of, how: 'end', agent, text: '' }, agent, 'lastWords'));
    } else if (kind === 'event') prompts.push({ ...of, how: 'schedule', ...PERSON, seq: into, text });
    else if (message.kind === 'result') prompts.push({ ...of, how: 'prompt', ...PERSON, seq: into, text });
  }
  // No mail stands for the last words of an agent that rests.
  for (const row of waited?.rows ?? []) {
    const text = row.message ?? row.last_reply ?? row.error;
    if (known.has(row.agent_id) || isPerson(row) || text === undefined) continue;
    const [how, agent] = [
      row.message === undefined ? 'end' : 'letter',
      { id: row.agent_id, name: row.name },
    ] as const;
    sent.push(byAnswer(look(), { how, into, agent, seq: null, at, text }, agent, 'answerAt'));
  }
  return [...prompts, ...(await Promise.all(sent))];
}

/** Finds the answer with which it was sent; without a past, it is only told who sent it. */
async function byAnswer(
  past: Past | null,
  cause: Cause,
  { id, name }: Pick<Agent, 'id' | 'name'>,
  search: 'answerAt' | 'lastWords',
): Promise<Cause> {
  const agent = (await past?.agent(id)) ?? null;
  const answer = agent === null ? undefined : await past?.[search](agent, cause.at);
  if (answer === undefined) return cause;
  const text = cause.text === '' ? answerText(answer) : cause.text;
  return { ...cause, agent: { id, name: agent?.name ?? name }, seq: answer.seq, at: answer.at, text };
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

async function ownResult(past: Past, agent: Agent, message: PlacedMessage): Promise<Cause[]> {
  if (message.kind !== 'result') return [];
  const { seq, at } = message;
  const { call_id, name, status, output, facts } = message.content;
  if (status === 'ok' && (ACTS.has(name) || facts?.created !== undefined)) return [];
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
