import assert from 'node:assert/strict';
import { advance as decide } from '../../src/kernel/turn/advance.ts';
import type { Advance } from '../../src/kernel/turn/advance-result.ts';
import type { Input, LedAgent } from '../../src/kernel/turn/led-agent.ts';
import type { Relatives, View } from '../../src/kernel/turn/view.ts';
import { frozen } from '../kernel/transition/kernel-run.ts';

/** How often each kind of input, previous state and result was seen. */
export const seen = new Map<string, number>();

const WRITES = new Set<PropertyKey>(['set', 'add', 'delete', 'clear']);

/** `advance` as the executor calls it, with all inputs frozen and every call made twice. */
export function advance(led: LedAgent, inputs: readonly Input[], view: View): Advance {
  const given = [ledAgent(led), frozen([...inputs]), viewOf(view)] as const;
  const [first, again] = [decide(...given), decide(...given)];
  assert.deepEqual(again, first, 'the same agent, inputs and view bring the same result');
  assert.doesNotMatch(JSON.stringify(first.step), /fault in Coppice|failed inside Coppice/);
  for (const input of inputs) count(input.type === 'event' ? input.event.type : input.type);
  for (const { kind } of led.inbox.all()) count(`mail: ${kind}`);
  count(`state: ${led.agent.state.type}`);
  for (const [name, value] of Object.entries(first)) if (isThere(value)) count(`result: ${name}`);
  return frozen(first);
}

function count(what: string): void {
  seen.set(what, (seen.get(what) ?? 0) + 1);
}

function isThere(value: unknown): boolean {
  if (value instanceof Map || value instanceof Set) return value.size > 0;
  return Array.isArray(value) ? value.length > 0 : value !== null;
}

function ledAgent({ prompt, inbox, ...led }: LedAgent): LedAgent {
  return Object.freeze({
    agent: frozen(led.agent),
    prompt: Object.freeze({
      messages: () => frozen(prompt.messages()),
      said: (since: 'beginning' | 'spoken-to') => frozen(prompt.said(since)),
    }),
    inbox: Object.freeze({
      isEmpty: inbox.isEmpty,
      all: () => frozen([...inbox.all()]),
      hasLetterFrom: (id: string) => inbox.hasLetterFrom(id),
    }),
    overrides: readOnly(led.overrides),
    request: led.request === null ? null : {},
    said: led.said,
    wait_cursors: readOnly(led.wait_cursors),
    looked_up: readOnly(led.looked_up),
    surveyed: readOnly(led.surveyed),
    answers: readOnly(led.answers),
  });
}

function viewOf(view: View): View {
  return Object.freeze({
    ...view,
    relatives: relativesOf(view.relatives),
    context: Object.freeze({ ...view.context }),
    terms: frozen(view.terms),
    tools: readOnly(view.tools),
    hasMail: (agent, from_id) => view.hasMail(frozen(agent), from_id),
    waitersOf: (id) => view.waitersOf(id),
    rulingOn: (tool) => frozen(view.rulingOn(tool)),
    argumentsOf: (call) => frozen(view.argumentsOf(frozen(call))),
  } satisfies View);
}

function relativesOf(all: Relatives): Relatives {
  return Object.freeze({
    agent: (id: string) => frozen(all.agent(id)),
    tree: (id: string) => frozen(all.tree(id)),
    budget: (id: string) => frozen(all.budget(id)),
    members: (id: string) => frozen(all.members(id)),
    children: (id: string) => frozen(all.children(id)),
    livingChildren: (id: string) => all.livingChildren(id),
    lineage: (agent) => frozen(all.lineage(agent)),
    subtree: (agent) => frozen(all.subtree(agent)),
    resolve: (text: string, root_id: string) => frozen(all.resolve(text, root_id)),
  } satisfies Relatives);
}

/** A Map or Set whose mutating methods throw. */
function readOnly<T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>>(given: T): T {
  return new Proxy(given, {
    get(target, name) {
      if (WRITES.has(name)) throw new Error(`${String(name)}: what advance was given is not its to change`);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
