import type { Agent } from '../../records/agent/agent.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { maskedText } from '../../records/text/masked-text.ts';
import { callsOf } from './past.ts';

/** Pure: two trees, or two agents with all below them, compared agent by agent. */

/** An agent with its conversation, what it inherited left out or not; oldest first. */
export interface Played {
  readonly agent: Agent;
  readonly messages: readonly PlacedMessage[];
}

/** What one agent did in one of the two. */
export interface Side {
  readonly agent_id: string;
  readonly outcome: string;
  readonly answer: string | null;
  /** Names of the called tools, in order. */
  readonly calls: readonly string[];
  /** Files that it changed, by path in its folder. */
  readonly files: readonly string[];
  readonly tokens: number;
  readonly cost_usd: number | null;
  readonly duration_ms: number;
}

/** A message that only one of the two has, or that reads differently. */
export interface MessageDifference {
  readonly a: Told | null;
  readonly b: Told | null;
}

interface Told {
  readonly seq: number;
  /** Milliseconds after the start of its tree. */
  readonly after_ms: number;
  readonly what: string;
  readonly text: string;
}

export const ASPECTS = ['outcome', 'answer', 'calls', 'files', 'messages'] as const;

export interface ComparedAgent {
  /** Names from the root or the first agent, and its number among several of that path: `main/reader`, `main/reader (2)`. */
  readonly path: string;
  readonly a: Side | null;
  readonly b: Side | null;
  readonly differs: readonly (typeof ASPECTS)[number][];
  /** The first message that differs. */
  readonly message: MessageDifference | null;
}

/** Compares the agents of both in the order in which `a` created them, then those that only `b` has; of each, its first agent comes first. */
export function compareTrees(a: readonly Played[], b: readonly Played[]): ComparedAgent[] {
  const [of_a, of_b] = [byPath(a), byPath(b)];
  return [...new Set([...of_a.keys(), ...of_b.keys()])].map((path) => {
    const [one, other] = [of_a.get(path), of_b.get(path)];
    const sides = {
      a: one === undefined ? null : sideOf(one),
      b: other === undefined ? null : sideOf(other),
    };
    const began = [a[0]?.agent.created_at ?? 0, b[0]?.agent.created_at ?? 0] as const;
    const message = firstDifference(told(one, began[0]), told(other, began[1]));
    const differs = ASPECTS.filter((aspect) =>
      aspect === 'messages'
        ? message !== null
        : comparable(one, sides.a, aspect) !== comparable(other, sides.b, aspect),
    );
    return { path, ...sides, message, differs };
  });
}

/** The agent whose conversation differs first, by the time since each tree began. */
export function firstOf(agents: readonly ComparedAgent[]): ComparedAgent | undefined {
  const at = ({ message }: ComparedAgent) =>
    message === null
      ? Number.POSITIVE_INFINITY
      : Math.min(...[message.a, message.b].flatMap((one) => one?.after_ms ?? []));
  return agents.filter(({ differs }) => differs.length > 0).toSorted((one, other) => at(one) - at(other))[0];
}

function comparable(played: Played | undefined, side: Side | null, aspect: keyof Side): string {
  return maskedText(
    JSON.stringify(side?.[aspect] ?? null),
    played === undefined ? [] : [played.agent.config.cwd],
  );
}

function byPath(played: readonly Played[]): Map<string, Played> {
  const paths = new Map<string, string>();
  const found = new Map<string, Played>();
  for (const one of played) {
    const { id, name, parent_id } = one.agent;
    const above = paths.get(parent_id ?? '');
    // Roots are what is compared, whatever their names.
    const base = above === undefined ? 'main' : `${above}/${name}`;
    let path = base;
    for (let number = 2; found.has(path); number += 1) path = `${base} (${number})`;
    paths.set(id, path);
    found.set(path, one);
  }
  return found;
}

function sideOf({ agent, messages }: Played): Side {
  const { id, config, usage, reply, created_at, ended_at } = agent;
  const own = messages.filter(({ agent_id }) => agent_id === id);
  const files = own.flatMap((message) => {
    const file =
      message.kind === 'result' && message.content.file?.before !== undefined && message.content.file;
    return file
      ? [file.path.startsWith(`${config.cwd}/`) ? file.path.slice(config.cwd.length + 1) : file.path]
      : [];
  });
  const calls = own.flatMap((message) =>
    message.kind === 'assistant' ? callsOf(message).map(({ name }) => name) : [],
  );
  return {
    ...{
      agent_id: id,
      outcome: outcomeOf(agent).outcome,
      answer: reply,
      calls,
      files: [...new Set(files)].sort(),
    },
    ...{ tokens: usage.input + usage.output, cost_usd: usage.cost_usd },
    duration_ms: Math.max(0, (ended_at ?? own.at(-1)?.at ?? created_at) - created_at),
  };
}

/** What the agent's model was told and said since it was created, masked; results in the order of their calls. */
function told(played: Played | undefined, began: number): Told[] {
  if (played === undefined) return [];
  const { agent, messages } = played;
  const own = messages.filter(({ agent_id }) => agent_id === agent.id);
  const order = new Map<string, number>();
  const rows = own.flatMap((message) => {
    const { kind, seq, at } = message;
    if (kind === 'event' || kind === 'capture') return [];
    if (kind === 'assistant') for (const { id } of callsOf(message)) order.set(`${seq} ${id}`, order.size);
    return [{ message, told: { seq, after_ms: at - began, ...shownOf(message, [agent.config.cwd]) } }];
  });
  let answer = 0;
  const placed = rows.map(({ message, told: one }) => {
    if (message.kind !== 'result') answer = message.seq;
    const call = message.kind === 'result' ? order.get(`${answer} ${message.content.call_id}`) : undefined;
    return { one, answer, call: call ?? -1 };
  });
  return placed.sort((x, y) => x.answer - y.answer || x.call - y.call).map(({ one }) => one);
}

function shownOf(message: PlacedMessage, folders: readonly string[]): Pick<Told, 'what' | 'text'> {
  const masked = (text: string) => maskedText(text, folders);
  if (message.kind === 'assistant') {
    const calls = callsOf(message).map(callLines);
    return {
      what: 'answer',
      text: masked([assistantText(message.content), ...calls].filter((one) => one !== '').join('\n')),
    };
  }
  if (message.kind === 'result') {
    const { name, status, output } = message.content;
    return { what: `result of ${name}`, text: masked(`${status}: ${output}`) };
  }
  if (message.kind !== 'user') return { what: '', text: '' };
  return {
    what: message.content.origin === 'human' ? 'prompt' : 'message',
    text: masked(message.content.text),
  };
}

/** A call with each argument on lines of its own. */
function callLines({ name, input, read }: CallPart): string {
  const given = Object.entries(parsedObject(read?.input ?? input) ?? { '': input });
  const lines = given.map(
    ([key, value]) => `  ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [read?.name ?? name, ...lines].join('\n');
}

function firstDifference(a: readonly Told[], b: readonly Told[]): MessageDifference | null {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [one, other] = [a[at] ?? null, b[at] ?? null];
    if (one?.what !== other?.what || one?.text !== other?.text) return { a: one, b: other };
  }
  return null;
}
