import type { Agent, Tree } from '../core/agent.ts';
import type { AgentEvent } from '../core/event.ts';
import type { Mail } from '../core/mail.ts';
import type { ResultStatus } from '../core/message.ts';
import { type Call, isTerminal, type RunningCall } from '../core/state.ts';
import { storable } from '../core/text.ts';
import type { TransitionContext } from '../core/transition-context.ts';
import { endWait, isAnswered, type WaitCut, type WaitView } from '../core/wait.ts';
import { type Decision, refusalText, type ToolsetTool, type ToolsetView } from '../toolsets/toolset.ts';
import type { Cell } from './cell.ts';
import { Draft } from './draft.ts';
import type { Forest } from './forest.ts';
import { frameLetters } from './mail-frame.ts';
import { parseCallInput } from './parse-call-input.ts';

export interface FoldSurroundings {
  readonly now: number;
  readonly newId: () => string;
  readonly worker: string;
  readonly forest: Forest;
  readonly context: TransitionContext;
  readonly toolsetTool: (name: string) => ToolsetTool | undefined;
  /** Letters wait for this agent. */
  readonly hasMail: (id: string) => boolean;
  /** Others lead agents of this tree too, so names must be looked up in the ledger. */
  readonly shared: boolean;
}

/**
 * Folds everything that waits at one agent into one draft: events in order, then the calls of toolsets that these
 * started, then waits that may end, then mail. Pure but for `newId`; the cell is not changed.
 */
export function fold(cell: Cell, around: FoldSurroundings): Draft {
  const draft = new Draft(
    cell.agent,
    around.context,
    (call) => around.toolsetTool(call.name) !== undefined,
    around.newId,
    (id) => !isTerminal(around.forest.agent(id)?.state.type ?? 'idle'),
  );
  for (const input of cell.inputs) {
    if (input.type === 'toolset-call') draft.toolset_calls.push(input.call);
    else if (input.event.type === 'cancel') cancel(draft, cell, around, input.event);
    else draft.apply(input.event, input.request);
    decodeCalls(draft, cell, around);
  }
  takeOrders(draft, cell, around);
  endWaits(draft, cell, around, null);
  decodeCalls(draft, cell, around);
  takeLetters(draft, cell, around);
  return draft;
}

function decodeCalls(draft: Draft, cell: Cell, around: FoldSurroundings): void {
  // A settled call may start queued ones, so the list grows while it is walked.
  for (let call = draft.toolset_calls.shift(); call !== undefined; call = draft.toolset_calls.shift()) {
    decodeCall(call, draft, cell, around);
  }
}

function decodeCall(call: Call, draft: Draft, cell: Cell, around: FoldSurroundings): void {
  const { state } = draft;
  if (
    state.type !== 'executing' ||
    !state.running.some((running) => running.call.id === call.id && running.wait === undefined)
  )
    return;
  const override = cell.overrides.get(call.id);
  if (override !== undefined)
    return settle(draft, call, 'error', refusalText(override.code, override.message), around);
  const tool = around.toolsetTool(call.name) as ToolsetTool;
  const parsed = parseCallInput(call);
  if (!parsed.ok) return settle(draft, call, 'error', refusalText('INVALID_ARG', parsed.error), around);
  // What this step creates or kills is not true yet: calls that look at the tree come after its commit.
  if (draft.kill.length > 0 || (draft.create.length > 0 && !tool.creates)) {
    draft.deferred.push({ call, look_up: [] });
    return;
  }
  const look_up = unknownNames(tool, parsed.input, cell, around);
  if (look_up.length > 0) {
    draft.deferred.push({ call, look_up });
    return;
  }
  decide(tool.decode(parsed.input, call, viewOf(draft, state.seq, around)), call, draft, cell, around);
}

function decide(decision: Decision, call: Call, draft: Draft, cell: Cell, around: FoldSurroundings): void {
  switch (decision.type) {
    case 'refuse':
      return settle(draft, call, 'error', refusalText(decision.code, decision.message), around);
    case 'settle': {
      const event: AgentEvent = {
        type: 'call-settled',
        at: around.now,
        result: { call_id: call.id, name: call.name, status: 'ok', output: decision.output },
        consequences: decision.consequences,
        spawned: [],
      };
      draft.apply(event);
      return;
    }
    case 'park': {
      const view = waitView(draft, cell, around);
      const { wait } = decision;
      // Nothing to wait for: the call never parks.
      const answered =
        wait.from === null ? view.inbox.some(isLetter) : wait.from.every((id) => isAnswered(id, view));
      if (answered || wait.deadline <= around.now)
        return settleWait({ call, wait }, draft, view, answered ? null : 'timeout', around);
      draft.apply({ type: 'call-parked', at: around.now, call_id: call.id, wait });
      if (wait.from !== null) draft.parked.push({ call_id: call.id, from: wait.from });
      return;
    }
  }
}

function settle(
  draft: Draft,
  call: Call,
  status: ResultStatus,
  output: string,
  around: FoldSurroundings,
): void {
  draft.apply({
    type: 'call-settled',
    at: around.now,
    result: { call_id: call.id, name: call.name, status, output: storable(output) },
    consequences: [],
    spawned: [],
  });
}

function unknownNames(tool: ToolsetTool, input: unknown, cell: Cell, around: FoldSurroundings): string[] {
  const names = tool
    .mentions(input)
    .filter((text) => text !== '' && around.forest.resolve(text, cell.agent.root_id).found === 'none');
  if (around.shared && (tool.surveys || tool.mentions(input).length > 0)) names.push('*');
  return names.filter((text) => !cell.looked_up.has(text));
}

function viewOf(draft: Draft, message_seq: number, around: FoldSurroundings): ToolsetView {
  const { forest } = around;
  const self: Agent = { ...draft.before, state: draft.state };
  const tree = forest.tree(self.root_id) as Tree;
  const created = draft.create.length;
  return {
    now: around.now,
    newId: around.newId,
    self,
    tree: { ...tree, live: tree.live + created, total: tree.total + created },
    living_children: forest.livingChildren(self.id) + created,
    resolve: (text) => forest.resolve(text, self.root_id),
    lineage: (agent) => forest.lineage(agent),
    subtree: (agent) => forest.subtree(agent),
    message_seq,
    worker: around.worker,
  };
}

function isLetter(mail: Mail): boolean {
  return mail.kind === 'letter';
}

function waitView(draft: Draft, cell: Cell, around: FoldSurroundings): WaitView {
  const untouched = draft.consumed.size === 0;
  const inbox = untouched
    ? cell.inbox.all()
    : cell.inbox.all().filter((mail) => !draft.consumed.has(mail.id));
  return {
    now: around.now,
    inbox,
    agent: (id) => around.forest.agent(id),
    hasMail: around.hasMail,
    hasLetterFrom: untouched
      ? (id) => cell.inbox.hasLetterFrom(id)
      : (id) => inbox.some((mail) => isLetter(mail) && mail.from_id === id),
  };
}

type Parked = Required<RunningCall>;

function parkedCalls(draft: Draft): Parked[] {
  if (draft.state.type !== 'executing') return [];
  return draft.state.running.filter((running): running is Parked => running.wait !== undefined);
}

function endWaits(draft: Draft, cell: Cell, around: FoldSurroundings, forced: WaitCut | null): void {
  for (const parked of parkedCalls(draft)) {
    const view = waitView(draft, cell, around);
    const complete = isComplete(parked, cell, view);
    const late = parked.wait.deadline <= around.now;
    if (complete || late || forced !== null) {
      settleWait(parked, draft, view, complete ? null : (forced ?? 'timeout'), around);
    }
  }
}

/** Begins at the agent that ran at the last look: a look costs one step as long as that one still runs. */
function isComplete({ call, wait }: Parked, cell: Cell, view: WaitView): boolean {
  const { from } = wait;
  if (from === null) return view.inbox.some(isLetter);
  const start = cell.wait_cursors.get(call.id) ?? 0;
  for (let offset = 0; offset < from.length; offset += 1) {
    const index = (start + offset) % from.length;
    if (!isAnswered(from[index] as string, view)) {
      cell.wait_cursors.set(call.id, index);
      return false;
    }
  }
  return true;
}

function settleWait(
  { call, wait }: Parked,
  draft: Draft,
  view: WaitView,
  cut: WaitCut | null,
  around: FoldSurroundings,
): void {
  const end = endWait(wait, view, cut);
  draft.apply({
    type: 'call-settled',
    at: around.now,
    result: { call_id: call.id, name: call.name, status: 'ok', output: end.output },
    consequences: end.consume.length === 0 ? [] : [{ type: 'consume-mail', mail_ids: end.consume }],
    spawned: [],
  });
}

/** A wait that is interrupted shows what it has, as an interrupted one; then the turn stops. */
function cancel(
  draft: Draft,
  cell: Cell,
  around: FoldSurroundings,
  event: Extract<AgentEvent, { type: 'cancel' }>,
): void {
  const parked = parkedCalls(draft);
  const open = parked.map((one) => {
    const end = endWait(one.wait, waitView(draft, cell, around), 'interrupted');
    for (const id of end.consume) draft.consumeWithNext(id);
    return { call_id: one.call.id, name: one.call.name, status: 'ok' as const, output: end.output };
  });
  draft.apply({ ...event, open });
}

/** Outcomes of children and orders of people; they are consumed whether or not the state still admits them. */
function takeOrders(draft: Draft, cell: Cell, around: FoldSurroundings): void {
  for (const mail of cell.inbox.all()) {
    if (mail.kind === 'letter' || draft.consumed.has(mail.id)) continue;
    const event = orderOf(mail, around.now);
    if (event?.type === 'cancel') cancel(draft, cell, around, event);
    else if (event !== null) draft.apply(event);
    draft.consumeNow(mail.id);
  }
  decodeCalls(draft, cell, around);
}

function orderOf(mail: Mail, at: number): AgentEvent | null {
  const body: unknown = JSON.parse(mail.body);
  if (mail.kind === 'outcome')
    return {
      type: 'child-result',
      at,
      child: body as Extract<AgentEvent, { type: 'child-result' }>['child'],
    };
  if (mail.kind !== 'control') return null;
  const order = body as { readonly type: string; readonly reason?: string };
  if (order.type === 'retry') return { type: 'retry', at };
  return { type: 'cancel', at, by: mail.from_name, reason: order.reason ?? 'cancelled', open: [] };
}

/** Letters wake an agent that is not at work; a person's letters also join a turn before its next request. */
function takeLetters(draft: Draft, cell: Cell, around: FoldSurroundings): void {
  if (cell.inbox.isEmpty) return;
  const resting = draft.state.type === 'idle' || draft.state.type === 'errored';
  const asking = draft.world.some((effect) => effect.type === 'request-model');
  if (!resting && !asking) return;
  const letters = cell.inbox.all().filter((mail) => isLetter(mail) && !draft.consumed.has(mail.id));
  const ofAgents = resting ? letters.filter((mail) => mail.from_id !== null) : [];
  if (ofAgents.length > 0) {
    for (const mail of ofAgents) draft.consumeWithNext(mail.id);
    const text = frameLetters(ofAgents, around.newId().slice(0, 8));
    draft.apply({ type: 'input', at: around.now, content: { origin: 'mail', text } });
  }
  for (const mail of letters.filter((one) => one.from_id === null)) {
    draft.consumeWithNext(mail.id);
    const type = draft.state.type === 'requesting' ? 'steer' : 'input';
    draft.apply({ type, at: around.now, content: { origin: 'human', text: mail.body } });
  }
}
