import { nameOfTask } from '../kernel/toolsets/acts/new-child.ts';
import { isTerminal, isWorking } from '../records/agent/state.ts';
import type { CaptureContent } from '../records/conversation/message.ts';
import { captureIn } from './capture.ts';
import { findAgent } from './composer/find-agent.ts';
import type { Desk } from './desk.ts';
import { type HumanCommand, isCaptureCommand, isCommand, readCommand } from './human-commands.ts';
import { answerByCommand } from './keys/answer-keys.ts';
import { descendants } from './state/family.ts';
import { paneOf } from './state/ui-state.ts';

/** What a person sent: a command, captured text, words to the agent in view, or the first prompt. */
export function submit(desk: Desk, text: string): void {
  if (text.trim() === '') return;
  const { view } = desk.state;
  if (view === null) return isCommand(text) ? obey(desk, text) : desk.attempt(() => desk.begin(text));
  const pane = paneOf(desk.state, view);
  if (pane.whole || pane.capture !== null) return submitTo(desk, view, text, pane.capture !== null);
  // Until its scrollback is there, only the ledger knows whether a capture is open.
  desk.attempt(async () => {
    const capture = captureIn(await desk.store.history(view), view);
    submitTo(desk, view, text, capture !== null);
  });
}

function submitTo(desk: Desk, view: string, text: string, captures: boolean): void {
  if (captures ? isCaptureCommand(text) : isCommand(text)) return obey(desk, text);
  if (captures) return capture(desk, view, { text: text.startsWith('//') ? text.slice(1) : text });
  desk.attempt(async () => void (await desk.runtime.send(view, text)));
}

function obey(desk: Desk, text: string): void {
  const read = readCommand(text);
  if (read.ok) perform(desk, read.command);
  else desk.say(read.error, 'bad');
}

/** Shown at once, and in the ledger before anything that is captured later. */
function capture(desk: Desk, agent_id: string, content: CaptureContent): void {
  desk.dispatch({ type: 'captured', agent_id, content });
  desk.inOrder(async () => {
    try {
      await desk.runtime.capture(agent_id, content.text, content.mark);
    } catch (error) {
      desk.dispatch({ type: 'captured', agent_id, content, lost: true });
      throw error;
    }
  });
}

/** Who a command means; what is wrong is said. */
function meant(desk: Desk, text: string): string | null {
  const found = findAgent(desk.state, text);
  if (found.type === 'agent') return found.agent.id;
  if (found.type === 'ambiguous') {
    const list = found.candidates.map((agent) => `${agent.name} (${agent.id.slice(0, 8)})`).join(', ');
    desk.say(`"${text}" may be any of ${list}: use more of the id.`, 'bad');
  } else {
    const hint = found.similar === null ? '' : ` Did you mean ${found.similar.name}?`;
    desk.say(`no agent "${text}".${hint} /agents shows all.`, 'bad');
  }
  return null;
}

/** Who several words of a command mean, each once; null when one of them means nobody. */
function allMeant(desk: Desk, texts: readonly string[]): readonly string[] | null {
  const ids = new Set<string>();
  for (const text of texts) {
    const id = meant(desk, text);
    if (id === null) return null;
    ids.add(id);
  }
  return [...ids];
}

export function perform(desk: Desk, command: HumanCommand): void {
  const { view } = desk.state;
  switch (command.name) {
    case 'agents':
      return desk.dispatch({ type: 'overlay', overlay: { type: 'agents', filter: '', selected: null } });
    case 'approvals':
      return openApprovals(desk);
    case 'help':
      return desk.dispatch({ type: 'overlay', overlay: { type: 'keys' } });
    case 'quit':
      return quit(desk);
    case 'web':
      return desk.say(
        'there is no dashboard yet; coppice tree and coppice logs show the same from another terminal',
      );
    case 'allow':
      return answerByCommand(desk, { verdict: 'allow', scope: command.scope, note: '' });
    case 'deny':
      return answerByCommand(desk, { verdict: 'deny', scope: 'once', note: command.note });
    case 'agent': {
      const id = meant(desk, command.agent);
      if (id !== null) desk.dispatch({ type: 'visit', agent_id: id });
      return;
    }
    default:
      if (view === null) return desk.say('there is no agent yet: say what is to be done first', 'bad');
      return performAt(desk, command, view);
  }
}

type AtAgent = Exclude<
  HumanCommand,
  { name: 'agents' | 'approvals' | 'allow' | 'deny' | 'help' | 'quit' | 'web' | 'agent' }
>;

function performAt(desk: Desk, command: AtAgent, view: string): void {
  const { runtime, store, state } = desk;
  const pane = paneOf(state, view);
  switch (command.name) {
    case 'capture':
      if (pane.capture !== null) return desk.say('the capture is on: /fork hands it over, /cancel ends it');
      return capture(desk, view, { text: '', mark: 'begun' });
    case 'cancel':
      if (pane.capture === null) return desk.say('nothing is being captured', 'bad');
      capture(desk, view, { text: '', mark: 'ended' });
      return desk.say('capture ended; its text stays here and was sent to nobody');
    case 'fork':
      return fork(desk, view, pane.capture);
    case 'kill': {
      const ids = command.agents.length === 0 ? [view] : allMeant(desk, command.agents);
      if (ids !== null) askKill(desk, ids);
      return;
    }
    case 'reap':
      return desk.attempt(async () => {
        const root_id = state.root_id ?? view;
        await store.reap(root_id, Date.now());
        // Those that another terminal has reaped go from sight here, too.
        const gone = (await store.agents({ root_id })).filter((agent) => agent.reaped_at !== null);
        const ids = gone.map((agent) => agent.id).filter((id) => desk.state.agents.has(id));
        if (ids.length > 0) desk.dispatch({ type: 'reaped', ids });
        desk.say(ids.length === 0 ? 'nobody is dead' : `removed ${ids.length} dead`);
      });
    case 'send': {
      const id = meant(desk, command.agent);
      if (id === null) return;
      return desk.attempt(async () => {
        await runtime.send(id, command.message);
        desk.say(`sent to ${state.agents.get(id)?.name ?? id}`, 'good');
      });
    }
    case 'wait': {
      const from = allMeant(desk, command.agents);
      if (from === null) return;
      return desk.attempt(() => runtime.wait(view, command.timeout_ms, from.length === 0 ? null : from));
    }
    case 'retry':
      if (state.agents.get(view)?.state.type !== 'errored')
        return desk.say('nothing failed here: there is nothing to try again', 'bad');
      return desk.attempt(() => runtime.retry(view, command.without_last));
    case 'model': {
      const config = state.agents.get(view)?.config;
      return desk.say(`${config?.model ?? 'no model'}, thinking ${config?.thinking ?? 'off'}`);
    }
  }
}

/** Seed 1: with a capture the child gets its text, without one it waits; either way it comes into view. */
function fork(desk: Desk, view: string, lines: readonly string[] | null): void {
  const prompt = lines === null ? null : lines.join('\n');
  if (prompt !== null && prompt.trim() === '')
    return desk.say('nothing is captured yet: write the task, then /fork', 'bad');
  const name = prompt === null ? `child-${desk.state.agents.size}` : nameOfTask(prompt, null);
  desk.inOrder(async () => {
    const child = await desk.runtime.fork(view, name, prompt, prompt !== null);
    desk.know(child);
    // Where others lead the agent, its end is told later.
    if (paneOf(desk.state, view).capture !== null)
      desk.dispatch({ type: 'captured', agent_id: view, content: { text: '', mark: 'ended' } });
    desk.dispatch({ type: 'visit', agent_id: child.id });
  });
}

/** Asks before agents are ended; those among them that have ended already are left out. */
export function askKill(desk: Desk, ids: readonly string[]): void {
  const { state } = desk;
  const named = ids.flatMap((id) => state.agents.get(id) ?? []);
  const agent_ids = named.filter((agent) => !isTerminal(agent.state.type)).map(({ id }) => id);
  if (agent_ids.length === 0)
    return desk.say(
      `${named.map(({ name }) => name).join(', ')} ${named.length === 1 ? 'has' : 'have'} ended already`,
      'bad',
    );
  const below = agent_ids.flatMap((id) => descendants(state, id));
  const living = below.filter(({ id, state: { type } }) => !isTerminal(type) && !agent_ids.includes(id));
  const others = [...new Set(living.map(({ id }) => id))];
  desk.dispatch({ type: 'overlay', overlay: { type: 'kill', agent_ids, descendants: others } });
}

export function openApprovals(desk: Desk): void {
  if (desk.state.asks.length === 0) return desk.say('nothing waits for your answer');
  desk.dispatch({ type: 'question', shown: true });
}

/** Leaves at once when nothing is at work; else asks what shall become of it. */
export function quit(desk: Desk): void {
  const working = [...desk.state.agents.values()].filter((agent) => isWorking(agent.state.type)).length;
  if (working === 0 || desk.followed) return desk.leave('quit');
  desk.dispatch({ type: 'overlay', overlay: { type: 'quit', working } });
}
