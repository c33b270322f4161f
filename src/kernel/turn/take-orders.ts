import { isAgentProgram } from '../../records/agent/agent.ts';
import { type AgentState, isFanIn, isResting, isTerminal } from '../../records/agent/state.ts';
import { forkMessage } from '../../records/conversation/fork-message.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { Prompt } from '../../records/conversation/prompt.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { type Order, readChildResult, readOrder, unreadable } from '../mailbox/read-mail.ts';
import { exceededCreationLimit } from '../toolsets/acts/creation-limits.ts';
import { forkAgent } from '../toolsets/acts/fork-agent.ts';
import { subagentSpawn } from '../toolsets/delegate.ts';
import { fork } from '../toolsets/process.ts';
import { type Need, type NeedAnswer, refusalText, type ToolsetView } from '../toolsets/toolset.ts';
import { workflowAgent } from '../toolsets/workflow/workflow-agent.ts';
import { withWorkflows } from '../toolsets/workflow/workflow-toolset.ts';
import type { EventOf } from '../transition/event.ts';
import { createdBy } from './decide-calls.ts';
import type { Draft } from './draft.ts';
import type { LedAgent } from './led-agent.ts';
import { toolsetView } from './toolset-view.ts';
import { cancel } from './waits.ts';

type OrderOf<T extends Order['type']> = Extract<Order, { readonly type: T }>;

/** Above this number of awaited children, outcomes are taken in batches. */
const GATHER_ABOVE = 32;

/**
 * Takes outcomes of children and orders of people; consumes them whether or not the state still admits them. Where many outcomes are awaited, they stay in
 * the mailbox until half of the missing ones are there: each step writes the whole state, so one step for each would be quadratic.
 */
export function takeOrders(draft: Draft): void {
  const { state, mail } = draft;
  const orders = mail.left.filter((one) => isOutcome(one) || one.kind === 'control');
  if (draft.isEmpty && orders.length * 2 < missingOf(state) && orders.every(isOutcome)) return;
  for (const one of orders) {
    if (isOutcome(one)) takeOutcome(draft, one);
    else if (!mail.isHeld) takeOrder(draft, one);
  }
}

/** Number of outcomes still awaited, if they are taken in batches; else 0. */
function missingOf(state: AgentState): number {
  if (isFanIn(state)) return state.spawned.length > GATHER_ABOVE ? state.pending.length : 0;
  if (state.type !== 'executing' || state.running.length <= GATHER_ABOVE) return 0;
  const delegated = state.running.reduce((sum, { child }) => (child === undefined ? sum : sum + 1), 0);
  return delegated > GATHER_ABOVE ? delegated : 0;
}

/** Takes outcomes in the mailbox before other events, in a fan-in or where outcomes are taken in batches. */
export function takeOutcomes(draft: Draft): void {
  if (!isFanIn(draft.state) && missingOf(draft.state) === 0) return;
  for (const mail of draft.mail.left) if (isOutcome(mail)) takeOutcome(draft, mail);
}

function takeOutcome(draft: Draft, mail: Mail): void {
  const child = readChildResult(mail);
  if (child === null) draft.tell(unreadable(mail));
  else draft.apply({ type: 'child-result', at: draft.view.now, child });
  draft.takeNow(mail.id);
}

function takeOrder(draft: Draft, mail: Mail): void {
  const order = readOrder(mail);
  if (order === null) draft.tell(unreadable(mail));
  else if (mustSurveyFirst(order, mail, draft)) return holdForSurvey(mail, draft);
  // It stays in the mailbox until the next request, or the end of the turn.
  else if (order.type === 'compact' && !isResting(draft.state.type) && !draft.asksModel) return;
  else followOrder(order, mail, draft);
  draft.takeNow(mail.id);
}

/** Whether the order is a wait for agents that other processes may lead: what is known of them may be stale or missing. */
function mustSurveyFirst(order: Order, { id }: Mail, { led, view, state }: Draft): boolean {
  if (!view.shared || led.surveyed.has(id)) return false;
  if (!isResting(state.type)) return false;
  return order.type === 'wait' && order.from !== null;
}

/** Keeps the order, and later mail, in the mailbox until the tree has been read from the ledger. */
function holdForSurvey({ id }: Mail, { calls, mail }: Draft): void {
  const call = { id, name: 'wait', input: '{}', side_by_side: false, idempotent: true };
  calls.defer(call, { survey: true });
  mail.hold();
}

function isOutcome({ kind }: Mail): boolean {
  return kind === 'outcome';
}

/** Follows a person's order as far as the agent's state admits it. */
function followOrder(order: Order, mail: Mail, draft: Draft): void {
  const at = draft.view.now;
  const by = mail.from_name;
  switch (order.type) {
    case 'cancel':
      return cancel(draft, { type: 'cancel', at, by, reason: order.reason, open: [] });
    case 'retry':
      draft.apply(retryEvent(at, draft.led, order.without_last === true));
      return;
    case 'answer': {
      const { type: _, ...answered } = order;
      draft.apply({ type: 'ask-answered', at, by, ...answered });
      return;
    }
    case 'capture': {
      const { text, mark } = order;
      draft.apply({ type: 'capture', at, content: mark === undefined ? { text } : { text, mark } });
      return;
    }
    case 'fork':
      return forkByPerson(order, by, draft);
    case 'create':
      return createForProgram(order, by, draft);
    case 'workflow':
      return startWorkflow(order, draft);
    case 'pause':
      return pauseRun(order, mail, draft);
    case 'go-on':
      return goOn(mail, draft);
    case 'model':
      if (
        order.model !== draft.config.model ||
        (order.thinking ?? draft.config.thinking) !== draft.config.thinking
      )
        draft.apply({ ...order, at });
      return;
    case 'workflows':
      if (withWorkflows(draft.config) !== draft.config) draft.apply({ type: 'workflows', at });
      return;
    case 'compact':
      if (isAgentProgram(draft.config.model))
        return draft.tell('compact: an agent program keeps its own context');
      draft.apply({ type: 'compact', at, note: order.note });
      return;
    case 'mode':
      if (order.mode !== (draft.config.permissions.mode ?? 'ask'))
        draft.apply({ type: 'mode', at, mode: order.mode });
      return;
    case 'wait':
      return waitOfPerson(order, mail, draft);
  }
}

function waitOfPerson({ from, timeout_ms }: OrderOf<'wait'>, { id, sent_at }: Mail, draft: Draft): void {
  const { overrides, agent } = draft.led;
  // The ledger refused it: it would close a cycle (law 10).
  const refused = overrides.get(id);
  if (refused !== undefined) return draft.tell(refusalText(refused.code, refused.message));
  if (from?.includes(agent.id) === true) return draft.tell('wait: an agent cannot wait for itself');
  // The timeout counts from when the person asked.
  const wait = { from, deadline: sent_at + timeout_ms };
  const wrong = draft.apply({ type: 'human-wait', at: sent_at, wait });
  if (wrong !== null) return draft.tell(`wait: ${wrong.reason}`);
  if (from !== null) draft.park(id, from);
}

/** The child inherits the conversation up to now; open calls get the placeholder, as in any fork. */
function forkByPerson({ id, name, prompt, captured }: OrderOf<'fork'>, by: string, draft: Draft): void {
  const refuse = (why: string) => draft.tell(`fork refused: ${why}`);
  if (draft.config.workflow !== undefined)
    return refuse('a workflow run has no fork: coppice workflow rerun makes another run of its script');
  if (draft.hasAgent(id)) return refuse(`agent ${id} already exists`);
  const view = toolsetView(draft, draft.last_seq);
  const decision = forkAgent(view, {
    id,
    name,
    terms: {},
    key: id,
    inherits: true,
    rests: prompt === null,
    prompt,
    text: (task) => forkMessage(id, name, view.self, task),
    output: () => '',
  });
  if (decision.type !== 'settle')
    return refuse(decision.type === 'refuse' ? decision.message : 'it cannot be forked');
  const { now: at } = view;
  const agents = createdBy(decision.consequences);
  draft.apply({ type: 'branch', at, agents, text: `forked ${name} (${id.slice(0, 8)}) by ${by}` });
  if (captured === true) draft.apply({ type: 'capture', at, content: { text: '', mark: 'ended' } });
}

const CREATES = { fork, subagent_spawn: subagentSpawn } as const;

/** Decides the call as if the agent had made it; the program has looked up model and folder, and takes the result. Idempotent by the id. */
function createForProgram({ id, tool, input, schema }: OrderOf<'create'>, by: string, draft: Draft): void {
  if (draft.hasAgent(id)) return;
  const own = toolsetView(draft, draft.last_seq);
  const ids = [id];
  const known = ({ type }: Need) => type === 'model' || type === 'folder';
  const view: ToolsetView = {
    ...own,
    // The list of models binds what agents choose.
    terms: { ...own.terms, subagents: { ...own.terms.subagents, models: null } },
    newId: (of) => ids.shift() ?? own.newId(of),
    answer: (need) => (known(need) ? { ok: true, text: 'path' in need ? need.path : '' } : unknownNeed(need)),
  };
  const call = { id, name: tool, input: '{}', side_by_side: false, idempotent: true };
  const decision = CREATES[tool].decode(input, call, view);
  if (decision.type !== 'settle' && decision.type !== 'delegate')
    return draft.tell(`${tool} refused: ${decision.type === 'refuse' ? decision.message : 'it cannot wait'}`);
  const agents = createdBy(decision.consequences).map((made): NewAgent => {
    if (schema === undefined) return made;
    const config = { ...made.agent.config, output: { agent_id: id, schema } };
    return { ...made, agent: { ...made.agent, config } };
  });
  const text = `${agents[0]?.agent.name} (${id.slice(0, 8)}) created by ${by}`;
  draft.apply({ type: 'branch', at: view.now, agents, text });
  for (const one of decision.consequences)
    if (one.type === 'deliver-mail') draft.write(one.mail.to_id, one.mail.kind, one.mail.body, view.now);
}

function unknownNeed({ type }: Need): NeedAnswer {
  return { ok: false, error: `a program gives no ${type}` };
}

/** Order of the tool `workflow`, and of people. Idempotent by the id. */
function startWorkflow({ id, run_id, workflow, by }: OrderOf<'workflow'>, draft: Draft): void {
  const { now: at } = draft.view;
  if (draft.hasAgent(id)) return;
  const view = toolsetView(draft, draft.last_seq);
  const reached = exceededCreationLimit(view);
  if (reached !== null) return draft.tell(`the workflow ${workflow.name} was not started: ${reached}`);
  const { client, model } = draft.config;
  const has_conversation = client === undefined && !isAgentProgram(model) && draft.last_seq > 0;
  const from = has_conversation ? { from: { agent_id: view.self.id, seq: draft.last_seq } } : {};
  const agents = [workflowAgent(view, { id, run_id, workflow: { ...workflow, ...from } })];
  draft.apply({
    type: 'branch',
    at,
    agents,
    text: `workflow ${workflow.name} (${id.slice(0, 8)}) started by ${by}`,
  });
}

/** Requests under way are answered, unless it `stops`; the next ones park, because the run says so (docs/workflows.md#pause-stop-and-steer). */
function pauseRun({ stops }: OrderOf<'pause'>, { from_id, from_name: by }: Mail, draft: Draft): void {
  const { now: at } = draft.view;
  if (from_id === null) {
    const { workflow } = draft.config;
    if (workflow === undefined || isResting(draft.state.type))
      return draft.tell('pause: no workflow runs here');
    if (workflow.paused !== undefined && (workflow.paused.stops || !stops)) return;
    draft.apply({ type: 'run-paused', at, paused: { by, stops } });
    if (stops) {
      passOn({ type: 'pause', stops }, draft);
      tellStarter(draft);
    }
  }
  // A script and a question to a person cost nothing, and a call that is broken off would count as failed.
  if (stops && draft.config.workflow === undefined) draft.apply({ type: 'halt', at });
}

/** A run that a person has stopped may rest for long, so whoever started it is told. A script waits. */
function tellStarter(draft: Draft): void {
  const { view, led } = draft;
  const starter = view.relatives.agent(led.agent.parent_id ?? '');
  if (starter === undefined || isTerminal(starter.state.type) || starter.config.workflow !== undefined)
    return;
  draft.write(starter.id, 'letter', STOPPED, view.now);
}

const STOPPED =
  'A person stopped this workflow run: what it had under way was broken off, and nothing new begins. It may go on later; its end is announced to you.';

function goOn({ from_id }: Mail, draft: Draft): void {
  const { now: at } = draft.view;
  if (from_id === null) {
    if (draft.config.workflow?.paused === undefined) return;
    draft.apply({ type: 'run-paused', at, paused: null });
    passOn({ type: 'go-on' }, draft);
  }
  draft.apply({ type: 'go-on', at });
}

/** Passes an order on to all below this agent, also where one in between has ended. */
function passOn(order: Order, draft: Draft): void {
  const { relatives, now } = draft.view;
  const self = draft.led.agent;
  for (const agent of relatives.members(self.root_id)) {
    const [, ...above] = relatives.lineage(agent);
    const is_below = above.some(({ id }) => id === self.id);
    if (is_below && !isTerminal(agent.state.type))
      draft.write(agent.id, 'control', JSON.stringify(order), now);
  }
}

/** A person's retry; `without_last` leaves out the refused message, by default the newest that the model saw. */
export function retryEvent(
  at: number,
  { agent, prompt }: Pick<LedAgent, 'agent' | 'prompt'>,
  without_last: boolean,
): EventOf<'retry'> {
  const messages = prompt.messages();
  if (!without_last) {
    const half = messages.at(-1)?.role === 'assistant' ? { half: true as const } : {};
    return { type: 'retry', at, ...half, ...(agent.reply === null ? {} : { said: agent.reply }) };
  }
  // Only finds the message; the prompt itself changes once the event is committed.
  const rest = new Prompt({ length: messages.length, messages: () => messages });
  const { state } = agent;
  const behind = state.type === 'errored' ? state.failure.behind_refused : undefined;
  const what = rest.leaveOut(behind);
  if (what === null) return { type: 'retry', at };
  const role = rest.messages().at(-1)?.role;
  const asks = role === 'user' || role === 'results';
  return { type: 'retry', at, left_out: { what, asks, ...(behind === undefined ? {} : { behind }) } };
}
