import { type Meant, meant } from '../records/agent/agent.ts';
import { nameOfTask } from '../records/agent/agent-name.ts';
import { isWorking } from '../records/agent/state.ts';
import type { CaptureContent } from '../records/conversation/message.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { didYouMean } from '../render/nearest-name.ts';
import type { AppContext } from './app-context.ts';
import { changeBudget, exportTree, tellCost } from './commands/account.ts';
import { askKill, askKillIdle } from './commands/ask-kill.ts';
import { tellChanges } from './commands/diff-command.ts';
import { type HumanCommand, isCaptureCommand, isCommand, readCommand } from './commands/human-commands.ts';
import { switchMode, switchModel } from './commands/pick-model.ts';
import { resumeTree } from './commands/pick-tree.ts';
import { removeRule, showRules } from './commands/rule-commands.ts';
import { tellTasks } from './commands/show-tasks.ts';
import { askUndo } from './commands/undo-changes.ts';
import { addressee } from './composer/attachments/mentions.ts';
import { withMentioned, writeMessage } from './composer/write-message.ts';
import { answerByCommand } from './keys/answer-keys.ts';
import { agentAtSlot, numberedAgents } from './state/agents/slots.ts';
import { captureIn } from './state/capture.ts';
import { paneOf, type UiState } from './state/ui-state.ts';

/** Handles what a person sent: a command, captured text, a message to the agent in view, or the first prompt. */
export function submit(app: AppContext, text: string): void {
  if (text.trim() === '') return;
  const { view } = app.state;
  if (view === null) return isCommand(text) ? runCommandLine(app, text) : write(app, null, text);
  const pane = paneOf(app.state, view);
  if (pane.whole || pane.capture !== null) return submitTo(app, view, text, pane.capture !== null);
  // Until its scrollback is loaded, only the ledger knows whether a capture is open.
  app.attempt(async () => {
    const capture = captureIn(await app.store.history(view), view);
    submitTo(app, view, text, capture !== null);
  });
}

function submitTo(app: AppContext, view: string, text: string, captures: boolean): void {
  if (captures ? isCaptureCommand(text) : isCommand(text)) return runCommandLine(app, text);
  if (captures) return capture(app, view, { text: text.startsWith('//') ? text.slice(1) : text });
  write(app, view, text);
}

/** Runs a shell command (`!`), or sends a message: to the agent named first (`@NAME`), otherwise to the agent in view. */
function write(app: AppContext, view: string | null, text: string): void {
  if (text.startsWith('!')) return app.own_commands.run(text);
  const letter = addressee(text);
  const named = [...app.state.agents.values()].some(({ name }) => name === letter?.agent);
  if (letter === null || !named) return writeMessage(app, view, text);
  if (letter.message === '') return app.say(`write the message after @${letter.agent}`, 'bad');
  const to = resolveAgent(app, letter.agent);
  if (to !== null) writeMessage(app, to, letter.message, text);
}

function runCommandLine(app: AppContext, text: string): void {
  const read = readCommand(text);
  if (read.ok) perform(app, read.command);
  else app.say(read.error, 'bad');
}

/** Shows captured text at once, and writes it to the ledger in the order in which it was typed. */
function capture(app: AppContext, agent_id: string, content: CaptureContent): void {
  app.dispatch({ type: 'captured', agent_id, content });
  app.enqueue(async () => {
    try {
      await app.runtime.capture(agent_id, content.text, content.mark);
    } catch (error) {
      app.dispatch({ type: 'captured', agent_id, content, lost: true });
      throw error;
    }
  });
}

/** Resolves an agent reference; null, with a notice, if no agent matches or several do. */
function resolveAgent(app: AppContext, text: string): string | null {
  const found = findAgent(app.state, text);
  if (found.found === 'one') return found.agent.id;
  if (found.found === 'many') {
    const list = found.candidates.map((agent) => `${agent.name} (${agent.id.slice(0, 8)})`).join(', ');
    app.say(`"${text}" may be any of ${list}: use more of the id.`, 'bad');
  } else {
    const names = [...app.state.agents.values()].map(({ name }) => name);
    const numbers = /^\d+$/.test(text)
      ? `They are numbered 0 to ${names.length - 1}; `
      : didYouMean(text, names);
    app.say(`no agent "${text}". ${numbers}/agents shows all.`, 'bad');
  }
  return null;
}

/** Resolves several references, without duplicates; null when one of them fails. */
function resolveAgents(app: AppContext, texts: readonly string[]): readonly string[] | null {
  const ids = new Set<string>();
  for (const text of texts) {
    const id = resolveAgent(app, text);
    if (id === null) return null;
    ids.add(id);
  }
  return [...ids];
}

export function perform(app: AppContext, command: HumanCommand): void {
  const { view } = app.state;
  switch (command.name) {
    case 'agents':
      return app.dispatch({ type: 'overlay', overlay: { type: 'agents', filter: '', selected: null } });
    case 'trees':
      return app.dispatch({ type: 'overlay', overlay: { type: 'trees' } });
    case 'approvals':
      return openApprovals(app);
    case 'help':
      return app.dispatch({ type: 'overlay', overlay: { type: 'keys' } });
    case 'new':
      return app.attempt(() => app.openTree(null));
    case 'mode':
      return switchMode(app, command.mode);
    case 'export':
      return app.attempt(() => exportTree(app, command.format, command.file));
    case 'diff':
      return app.attempt(() => tellChanges(app));
    case 'undo': {
      const only = command.agent === null ? null : resolveAgent(app, command.agent);
      if (command.agent !== null && only === null) return;
      return app.attempt(() => askUndo(app, only, command.redo));
    }
    case 'budget': {
      const agent = command.agent === null ? view : resolveAgent(app, command.agent);
      return agent === null ? undefined : app.attempt(() => changeBudget(app, agent, command.wanted));
    }
    case 'tasks':
      return app.attempt(() => tellTasks(app));
    case 'cost':
      return app.attempt(() => tellCost(app));
    case 'model':
      return app.attempt(() => switchModel(app, command.text));
    case 'resume':
      return app.attempt(() => resumeTree(app, command.text));
    case 'web':
      return app.attempt(async () => app.say(await app.openDashboard()));
    case 'setup':
      return leaveForSetup(app);
    case 'quit':
      return quit(app);
    case 'allow':
      return answerByCommand(app, {
        ...{ verdict: 'allow', scope: command.scope, note: '' },
        ...{ rule: command.rule, values: command.values },
      });
    case 'rules':
      return command.remove === null ? showRules(app) : removeRule(app, command.remove);
    case 'deny':
      return answerByCommand(app, { verdict: 'deny', scope: 'once', note: command.note });
    case 'agent': {
      const id = resolveAgent(app, command.agent);
      if (id !== null) app.dispatch({ type: 'visit', agent_id: id });
      return;
    }
    default:
      if (view === null) return app.say('there is no conversation yet: send a first message', 'bad');
      return performAt(app, command, view);
  }
}

/** Commands that need an agent in view. */
function performAt(app: AppContext, command: HumanCommand, view: string): void {
  const { runtime, store, state } = app;
  const pane = paneOf(state, view);
  switch (command.name) {
    case 'capture':
      if (pane.capture !== null)
        return app.say('a capture is already open: /fork gives it to a child, /cancel ends it');
      return capture(app, view, { text: '', mark: 'begun' });
    case 'cancel':
      if (pane.capture === null) return app.say('nothing is being captured', 'bad');
      capture(app, view, { text: '', mark: 'ended' });
      return app.say('capture ended; its text stays here and was sent to nobody');
    case 'fork':
      return fork(app, view, pane.capture);
    case 'kill': {
      const names = [...state.agents.values()].map(({ name }) => name);
      if (command.agents.join() === 'idle' && !names.includes('idle')) return askKillIdle(app);
      const ids = command.agents.length === 0 ? [view] : resolveAgents(app, command.agents);
      if (ids !== null) askKill(app, ids);
      return;
    }
    case 'reap':
      return app.attempt(async () => {
        const root_id = state.root_id ?? view;
        await store.reap(root_id, Date.now());
        // Agents reaped in another terminal disappear here, too.
        const gone = (await store.agents({ root_id })).filter((agent) => agent.reaped_at !== null);
        const ids = gone.map((agent) => agent.id).filter((id) => app.state.agents.has(id));
        if (ids.length > 0) app.dispatch({ type: 'reaped', ids });
        app.say(ids.length === 0 ? 'there are no dead agents' : `removed ${ids.length} dead`);
      });
    case 'send': {
      const id = resolveAgent(app, command.agent);
      if (id === null) return;
      return writeMessage(app, id, command.message, `/send ${command.agent} ${command.message}`);
    }
    case 'wait': {
      const from = resolveAgents(app, command.agents);
      if (from === null) return;
      return app.attempt(() => runtime.wait(view, command.timeout_ms, from.length === 0 ? null : from));
    }
    case 'compact':
      return app.attempt(async () => {
        await runtime.compact(view, command.note);
        app.say('the model will be asked to summarise the older part');
      });
    case 'retry':
      if (state.agents.get(view)?.state.type !== 'errored')
        return app.say('this agent has not failed: there is nothing to retry', 'bad');
      return app.attempt(() => runtime.retry(view, command.without_last));
  }
}

/** Creates a child and brings it into view: with a capture, the captured text is its task; without one, the child waits. */
function fork(app: AppContext, view: string, lines: readonly string[] | null): void {
  const prompt = lines === null ? null : lines.join('\n');
  if (prompt !== null && prompt.trim() === '')
    return app.say('nothing is captured yet: write the task, then /fork', 'bad');
  const name = prompt === null ? `child-${app.state.agents.size}` : nameOfTask(prompt, null);
  app.enqueue(async () => {
    const task = prompt === null ? null : await withMentioned(app, view, prompt);
    if (task?.images !== undefined)
      throw new CoppiceError(
        'E_INVALID_ARGUMENT',
        'a task for a child cannot contain a picture: send it to the child after /fork',
      );
    const child = await app.runtime.fork(view, name, task?.text ?? null, task !== null);
    app.addAgent(child);
    // If another process leads the agent, the event that ends the capture arrives later.
    if (paneOf(app.state, view).capture !== null)
      app.dispatch({ type: 'captured', agent_id: view, content: { text: '', mark: 'ended' } });
    app.dispatch({ type: 'visit', agent_id: child.id });
  });
}

export function openApprovals(app: AppContext): void {
  if (app.state.asks.length === 0) return app.say('nothing waits for your answer');
  app.dispatch({ type: 'question', shown: true });
}

function leaveForSetup(app: AppContext): void {
  const working = [...app.state.agents.values()].some((agent) => isWorking(agent.state.type));
  if (working || app.working_elsewhere > 0)
    return app.say('agents are at work: quit first, then run coppice setup', 'bad');
  app.leave('setup');
}

/** Number of agents of the open tree that work and that leaving would stop: none if another process leads it. */
export function workingHere({ followed, state }: AppContext): number {
  return followed ? 0 : [...state.agents.values()].filter((agent) => isWorking(agent.state.type)).length;
}

/** Leaves at once when no agent works; else asks whether to detach or kill. */
export function quit(app: AppContext): void {
  const working = workingHere(app) + app.working_elsewhere;
  if (working === 0) return app.leave('quit');
  app.dispatch({ type: 'overlay', overlay: { type: 'quit', working } });
}

const PREFIX_MIN = 4;

/** Finds an agent by slot, name, the first four or more characters of its id, or number. Living agents take precedence over ended ones. */
export function findAgent(state: UiState, reference: string): Meant {
  const wanted = reference.trim();
  if (/^\d$/.test(wanted)) {
    const id = agentAtSlot(state, Number(wanted));
    const agent = id === null ? undefined : state.agents.get(id);
    if (agent !== undefined) return { found: 'one', agent };
  }
  const all = [...state.agents.values()];
  const named = all.filter((agent) => agent.name === wanted);
  const short = wanted.length < PREFIX_MIN;
  const by_id = short ? [] : all.filter((agent) => agent.id.startsWith(wanted.toLowerCase()));
  const which = meant(named.length > 0 ? named : by_id);
  const numbered = /^\d+$/.test(wanted) ? numberedAgents(state).get(Number(wanted)) : undefined;
  return which.found === 'none' && numbered !== undefined ? { found: 'one', agent: numbered } : which;
}
