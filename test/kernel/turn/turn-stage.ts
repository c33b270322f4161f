import { z } from 'zod';
import { inputSchema } from '../../../src/kernel/toolsets/arguments.ts';
import type { ToolsetTool } from '../../../src/kernel/toolsets/toolset.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { advance } from '../../../src/kernel/turn/advance.ts';
import type { Advance } from '../../../src/kernel/turn/advance-result.ts';
import { createdAgent } from '../../../src/kernel/turn/agent-after.ts';
import type { Input, LedAgent } from '../../../src/kernel/turn/led-agent.ts';
import type { View } from '../../../src/kernel/turn/view.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../../src/records/agent/limits.ts';
import { type AgentState, type Call, newTurn, type RunningCall } from '../../../src/records/agent/state.ts';
import { completionInLetter } from '../../../src/records/conversation/facts/old-facts.ts';
import type { Mail } from '../../../src/records/conversation/mail.ts';
import { Prompt } from '../../../src/records/conversation/prompt.ts';
import { AgentIndex } from '../../../src/runtime/executor/agent-index.ts';
import { Inbox } from '../../../src/runtime/executor/inbox.ts';
import { callArguments } from '../../../src/runtime/tool-catalog.ts';
import { newAgent } from '../../store/ledger-fixture.ts';

export const NOW = 1_000;

/** An agent as the ledger stores it: at rest, the root of its tree unless `over` says so. */
export function agentOf(id: string, over: Partial<Agent> = {}): Agent {
  const { agent, messages } = newAgent(null, { id, name: id, root_id: 'root' });
  return { ...createdAgent({ agent, messages }), state: { type: 'idle' }, doing: null, ...over };
}

export const AT_WORK: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(1) };

export function call(id: string, name = 'tool', input: unknown = {}): Call {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return { id, name, input: text, side_by_side: true, idempotent: true };
}

export function executing(...running: readonly (Call | RunningCall)[]): AgentState {
  return {
    type: 'executing',
    seq: 1,
    running: running.map((one) => ('call' in one ? one : { call: one })),
    queued: [],
    results: [],
    spawned: [],
    early: [],
    turn: newTurn(1),
  };
}

export function toolOf(name: string, over: Partial<ToolsetTool> = {}): ToolsetTool {
  return {
    spec: { name, description: name, input: inputSchema(z.strictObject({})) },
    fits: () => true,
    decode: () => ({ type: 'settle', output: 'fine', consequences: [] }),
    ...over,
  };
}

let letters = 0;

export function mailOf(kind: Mail['kind'], body: string | object, over: Partial<Mail> = {}): Mail {
  letters += 1;
  const mail: Mail = {
    id: `mail-${letters}`,
    root_id: 'root',
    to_id: 'root',
    from_id: null,
    from_name: 'you',
    kind,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    number: letters,
    sent_at: 500,
    consumed_seq: null,
    ...over,
  };
  return { ...mail, ...completionInLetter(mail) };
}

export interface Scene {
  readonly agent?: Partial<Agent>;
  /** Agents besides the one that advances, whose id is `root` unless `agent` says otherwise. */
  readonly others?: readonly Agent[];
  readonly mail?: readonly Mail[];
  readonly tools?: readonly ToolsetTool[];
  readonly led?: Partial<LedAgent>;
  readonly view?: Partial<View>;
  readonly prompt?: Prompt;
}

/** The result of advancing the agent by these inputs in this scene. */
export function play(scene: Scene, ...inputs: readonly Input[]): Advance {
  const agent = agentOf(scene.agent?.id ?? 'root', scene.agent);
  const forest = new AgentIndex();
  forest.setTree({ root_id: 'root', limits: DEFAULT_LIMITS, live: 1, total: 1, tokens: 0, cost_usd: 0 });
  for (const one of [agent, ...(scene.others ?? [])]) forest.set(one);
  const led: LedAgent = {
    agent,
    prompt: scene.prompt ?? new Prompt(),
    inbox: new Inbox(scene.mail ?? []),
    overrides: new Map(),
    request: null,
    said: '',
    wait_cursors: new Map(),
    looked_up: new Set(),
    surveyed: new Set(),
    answers: new Map(),
    ...scene.led,
  };
  const view: View = {
    now: NOW,
    id: (number) => `id-${number}`,
    worker: 'w1',
    relatives: forest,
    context: { reports: false, submits: false, turns: 10 },
    tools: new Map((scene.tools ?? []).map((tool) => [tool.spec.name, tool])),
    terms: DEFAULT_TERMS,
    sent: (spec) => spec,
    notices: false,
    shared: false,
    hasMail: () => false,
    waitersOf: () => [],
    mayBegin: () => true,
    rulingOn: () => null,
    argumentsOf: callArguments(),
    ...scene.view,
  };
  return advance(led, inputs, view);
}

/** The step's results of calls, as `id: status: output`. */
export function resultsOf({ step }: Advance): string[] {
  return (step?.messages ?? []).flatMap(({ kind, content }) =>
    kind === 'result' ? [`${content.call_id}: ${content.status}: ${content.output}`] : [],
  );
}

/** The step's texts for the model as `origin: text`, and its events as `event: text`. */
export function toldIn({ step }: Advance): string[] {
  return (step?.messages ?? []).flatMap(({ kind, content }) => {
    if (kind === 'user') return [`${content.origin}: ${content.text}`];
    return kind === 'event' ? [`${content.event}: ${content.text}`] : [];
  });
}

/** An answer of the model, as an input. */
export function answer(text: string, ...calls: readonly Call[]): Input {
  const parts = [
    { type: 'text' as const, text },
    ...calls.map(({ id, name, input }) => ({ type: 'call' as const, id, name, input })),
  ];
  const content = { model: 'fake/m', parts };
  return { type: 'event', event: { type: 'response', at: NOW, seq: 0, content, calls, submission: null } };
}

export function again(one: Call): Input {
  return { type: 'toolset-call', call: one };
}
