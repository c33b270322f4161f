import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { maskedText } from '../../records/text/masked-text.ts';
import { callsOf } from './past.ts';

/** Pure: two trees, or two agents with all below them, compared agent by agent. */

type Row = DocumentOf<'coppice/diff/v1'>['agents'][number];
type Side = NonNullable<Row['a']>;

/** An agent with its own messages, oldest first. */
export interface Played {
  readonly agent: Agent;
  readonly messages: readonly PlacedMessage[];
}

/** A message as it is compared; `after_ms`: since its tree began. */
interface Told {
  readonly seq: number;
  readonly after_ms: number;
  readonly what: string;
  readonly text: string;
}

export interface Compared extends Row {
  /** The first message that only one of the two has, or that reads differently. */
  readonly message: { readonly a: Told | null; readonly b: Told | null } | null;
}

const ASPECTS = ['outcome', 'answer', 'calls', 'files'] as const;

/** Compares the agents of both, each after its parent, in the order in which `a` created them, then those that only `b` has. */
export function compareTrees(a: readonly Played[], b: readonly Played[]): Compared[] {
  const [of_a, of_b] = [byPath(a), byPath(b)];
  const [began_a, began_b] = [a, b].map((played) => played[0]?.agent.created_at ?? 0);
  return [...new Set([...of_a.keys(), ...of_b.keys()])].map((path) => {
    const [one, other] = [of_a.get(path), of_b.get(path)];
    const message = firstDifference(toldTo(one, began_a), toldTo(other, began_b));
    const sides = { a: one ? sideOf(one) : null, b: other ? sideOf(other) : null };
    const shown = (of: Played | undefined, side: Side | null, aspect: keyof Side) =>
      maskedText(JSON.stringify(side?.[aspect] ?? null), of === undefined ? [] : [of.agent.config.cwd]);
    const differs: Row['differs'][number][] = ASPECTS.filter(
      (aspect) => shown(one, sides.a, aspect) !== shown(other, sides.b, aspect),
    );
    if (message !== null) differs.push('messages');
    return { path, ...sides, differs, message };
  });
}

/** The agent whose conversation differs first. */
export function firstOf(compared: readonly Compared[]): Compared | undefined {
  const at = ({ message }: Compared) =>
    Math.min(...[message?.a, message?.b].map((one) => one?.after_ms ?? Infinity));
  const differ = compared.filter(({ differs }) => differs.length > 0);
  return differ.sort((one, other) => (at(one) < at(other) ? -1 : at(one) > at(other) ? 1 : 0))[0];
}

/** By their names from the compared agent on, which is `main`, whatever its name. */
function byPath(played: readonly Played[]): Map<string, Played> {
  const paths = new Map<string, string>();
  const found = new Map<string, Played>();
  for (const one of played) {
    const above = paths.get(one.agent.parent_id ?? '');
    const base = above === undefined ? 'main' : `${above}/${one.agent.name}`;
    let path = base;
    for (let number = 2; found.has(path); number += 1) path = `${base} (${number})`;
    paths.set(one.agent.id, path);
    found.set(path, one);
  }
  return found;
}

function sideOf({ agent, messages }: Played): Side {
  const { id: agent_id, config, usage, reply: answer, created_at, ended_at } = agent;
  const files = messages.flatMap(({ kind, content }) =>
    kind === 'result' && content.file?.before !== undefined
      ? content.file.path.replace(`${config.cwd}/`, '')
      : [],
  );
  return {
    ...{ agent_id, outcome: outcomeOf(agent).outcome, answer },
    calls: messages.flatMap((one) => (one.kind === 'assistant' ? callsOf(one).map(({ name }) => name) : [])),
    files: [...new Set(files)].sort(),
    ...{ tokens: usage.input + usage.output, cost_usd: usage.cost_usd },
    duration_ms: Math.max(0, (ended_at ?? messages.at(-1)?.at ?? created_at) - created_at),
  };
}

/** What the agent's model was told and said, masked; results in the order of their calls. */
function toldTo(played: Played | undefined, began = 0): Told[] {
  let [answer, ids]: [number, readonly string[]] = [0, []];
  const placed = (played?.messages ?? []).flatMap((message) => {
    const { kind, seq, at, content } = message;
    if (kind === 'event' || kind === 'capture') return [];
    if (kind !== 'result') answer = seq;
    if (kind === 'assistant') ids = callsOf(message).map(({ id }) => id);
    const call = kind === 'result' ? ids.indexOf(content.call_id) : -1;
    const [what, text] = shownOf(message);
    // What a person wrote is compared as it is.
    const masked = what === 'prompt' ? text : maskedText(text, [played?.agent.config.cwd ?? '']);
    return [{ answer, call, told: { seq, after_ms: at - began, what, text: masked } }];
  });
  return placed
    .sort((one, other) => one.answer - other.answer || one.call - other.call)
    .map(({ told }) => told);
}

function shownOf(message: PlacedMessage): readonly [what: string, text: string] {
  switch (message.kind) {
    case 'assistant': {
      const said = [assistantText(message.content), ...callsOf(message).map(callLines)];
      return ['answer', said.filter((one) => one !== '').join('\n')];
    }
    case 'result':
      return [`result of ${message.content.name}`, `${message.content.status}: ${message.content.output}`];
    case 'user':
      return [message.content.origin === 'human' ? 'prompt' : 'message', message.content.text];
    default:
      return ['', ''];
  }
}

/** A call with each argument on lines of its own. */
function callLines({ name, input, read }: CallPart): string {
  const given = Object.entries(parsedObject(read?.input ?? input) ?? { '': input });
  const lines = given.map(([key, one]) => `  ${key}: ${typeof one === 'string' ? one : JSON.stringify(one)}`);
  return [read?.name ?? name, ...lines].join('\n');
}

function firstDifference(a: readonly Told[], b: readonly Told[]): Compared['message'] {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [one, other] = [a[at] ?? null, b[at] ?? null];
    if (one?.what !== other?.what || one?.text !== other?.text) return { a: one, b: other };
  }
  return null;
}
