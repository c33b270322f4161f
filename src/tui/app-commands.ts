import { cutShort } from '../records/conversation/child-text.ts';
import { pauseOf } from '../records/conversation/parked.ts';
import { taskCells } from '../records/run/listed-task.ts';
import { count } from '../render/amounts.ts';
import { clean } from '../render/clean.ts';
import { tableLines } from '../render/table.ts';
import { readCall } from '../trees/typed/called-text.ts';
import { addressee } from '../trees/typed/mentions.ts';
import type { AppContext } from './app-context.ts';
import { beginCapture, capture, endCapture } from './commands/agents/capture.ts';
import { resolveAgent, resolveAgents } from './commands/agents/find-agent.ts';
import { fork } from './commands/agents/fork.ts';
import { kill } from './commands/agents/kill.ts';
import { reap } from './commands/agents/reap.ts';
import { changeBudget } from './commands/budget.ts';
import { tellChanges } from './commands/changes/diff.ts';
import { askUndo } from './commands/changes/undo.ts';
import { type ArgumentsOf, type AtAgent, COMMANDS, type CommandName } from './commands/command-table.ts';
import { copy } from './commands/copy.ts';
import { findText } from './commands/find.ts';
import { switchEffort, switchModel } from './commands/model.ts';
import { leaveForSetup, quit } from './commands/quit.ts';
import { isBuiltIn, isCaptureCommand, isCommand, readCommand } from './commands/read-command.ts';
import { resumeTree } from './commands/resume.ts';
import { askRewind } from './commands/rewind.ts';
import { removeRule, showRules } from './commands/rules.ts';
import { orderWorkflow } from './commands/saved/workflow.ts';
import { tellContext } from './commands/use/context.ts';
import { tellCost } from './commands/use/cost.ts';
import { tellStatus } from './commands/use/status.ts';
import { writeMessage } from './composer/write-message.ts';
import { answerByCommand } from './keys/answer-keys.ts';
import { captureIn } from './state/capture.ts';
import { modeInView, type Overlay, paneOf } from './state/ui-state.ts';

const NEXT_MODE = { ask: 'accept', accept: 'plan', plan: 'ask' } as const;

type Run<N extends CommandName> = (
  app: AppContext,
  read: ArgumentsOf<N>,
  view: N extends AtAgent ? string : string | null,
) => void | Promise<void>;

/** What each command of the table does; a rejection is shown as a notice. */
const RUNS: { readonly [N in CommandName]: Run<N> } = {
  agent(app, text) {
    const agent_id = resolveAgent(app, text);
    if (agent_id !== null) app.dispatch({ type: 'visit', agent_id });
  },
  agents: (app) => open(app, { type: 'agents', filter: '', selected: null }),
  trees: (app) => open(app, { type: 'trees' }),
  help: (app) => open(app, { type: 'keys' }),
  approvals(app) {
    if (app.state.asks.length === 0) app.say('nothing waits for your answer');
    else app.dispatch({ type: 'question', shown: true });
  },
  allow: (app, answer) => answerByCommand(app, { verdict: 'allow', note: '', ...answer }),
  deny: (app, note) => answerByCommand(app, { verdict: 'deny', scope: 'once', note }),
  rules: (app, id) => (id === null ? showRules(app) : removeRule(app, id)),
  kill,
  reap: (app, _, view) => reap(app, view),
  capture: (app, _, view) => beginCapture(app, view),
  cancel: (app, _, view) => endCapture(app, view),
  fork: (app, _, view) => fork(app, view),
  send(app, { agent, message }) {
    const id = resolveAgent(app, agent);
    if (id !== null) writeMessage(app, id, message, `/send ${agent} ${message}`);
  },
  async wait(app, { timeout_ms, agents }, view) {
    const from = resolveAgents(app, agents);
    if (from !== null) await app.runtime.wait(view, timeout_ms, from.length === 0 ? null : from);
  },
  async retry(app, without_last, view) {
    const state = app.state.agents.get(view)?.state;
    if (state?.type === 'errored' || (state !== undefined && (pauseOf(state) ?? cutShort(state)) !== null))
      await app.runtime.retry(view, without_last);
    else app.say('this agent has not failed: there is nothing to retry', 'bad');
  },
  async compact(app, note, view) {
    await app.runtime.compact(view, note);
    app.say('the model will be asked to summarise the older part');
  },
  mode(app, named) {
    const { root_id } = app.state;
    const mode = named ?? NEXT_MODE[modeInView(app.state)];
    if (root_id === null) app.dispatch({ type: 'mode', mode });
    else app.enqueue(() => app.runtime.switchMode(root_id, mode));
  },
  model: switchModel,
  effort: switchEffort,
  diff: tellChanges,
  undo: askUndo,
  workflow: orderWorkflow,
  async tasks(app) {
    const { state, store, style } = app;
    const tasks = state.root_id === null ? [] : await store.tasks(state.root_id);
    if (tasks.length === 0) return app.say('no tasks: agents with the toolset tasks add them');
    // Long rows are wrapped like any text.
    const how = { width: Number.MAX_SAFE_INTEGER, right: new Set([0]), style };
    const rows = tasks.map((task) => taskCells(task).map(clean));
    app.say(tableLines(['task', 'state', 'agent', 'what'], rows, how).join('\n'));
  },
  status: tellStatus,
  context: tellContext,
  cost: tellCost,
  budget: changeBudget,
  async export(app, { format, file }) {
    const { root_id } = app.state;
    if (root_id === null) app.say('there is nothing to export yet', 'bad');
    else app.say(`written: ${await app.options.exportTree(root_id, format, file)}`, 'good');
  },
  copy,
  find: findText,
  new: (app) => app.openTree(null),
  resume: resumeTree,
  rewind: askRewind,
  vim(app) {
    app.vim = !app.vim;
    app.say(app.vim ? 'vim: Esc leaves the insert mode, i goes back; /vim ends it' : 'vim is off');
  },
  setup: leaveForSetup,
  mcp: async (app, name) => app.say(await app.options.mcp(name, (text) => app.say(text))),
  web: async (app) => app.say(await app.options.openDashboard()),
  quit,
};

function open(app: AppContext, overlay: Overlay): void {
  app.dispatch({ type: 'overlay', overlay });
}

/** Runs a command line, such as `/kill main`. */
export function runCommand(app: AppContext, line: string): void {
  const command = readCommand(line);
  if (typeof command === 'string') return app.say(command, 'bad');
  const { view } = app.state;
  const row = COMMANDS.find(({ name }) => name === command.name);
  if (view === null && (command.name === 'capture' || command.name === 'fork'))
    return app.enqueue(async () => {
      if (app.state.view === null) await app.startTree(null);
      runCommand(app, line);
    });
  if (view === null && row?.at_agent)
    return app.say('there is no conversation yet: send a first message', 'bad');
  const run = RUNS[command.name] as Run<CommandName>;
  app.attempt(async () => run(app, command.arguments as never, view as never));
}

/** Handles what a person sent: a command, captured text, a message to the agent in view, or the first prompt. */
export function submit(app: AppContext, text: string): void {
  if (text.trim() === '') return;
  const { view } = app.state;
  const call = readCall(text);
  if (call === null || (view !== null && paneOf(app.state, view).capture !== null))
    return submitOwn(app, text);
  if (isBuiltIn(call.name)) {
    app.called.tellHidden(call.name);
    return submitOwn(app, text);
  }
  app.attempt(async () => {
    if (await app.called.call(view, text)) return;
    const why = app.options.uncalled(call.name);
    if (why === null) submitOwn(app, text);
    else app.say(why, 'bad');
  });
}

function submitOwn(app: AppContext, text: string): void {
  const { view } = app.state;
  if (view === null) return isCommand(text) ? runCommand(app, text) : write(app, null, text);
  const pane = paneOf(app.state, view);
  if (pane.whole || pane.capture !== null) return submitTo(app, view, text, pane.capture !== null);
  // Until its scrollback is loaded, only the ledger knows whether a capture is open.
  app.attempt(async () => {
    const open = captureIn(await app.store.history(view), view);
    submitTo(app, view, text, open !== null);
  });
}

function submitTo(app: AppContext, view: string, text: string, captures: boolean): void {
  if (captures ? isCaptureCommand(text) : isCommand(text)) return runCommand(app, text);
  if (captures) return capture(app, view, { text: text.startsWith('//') ? text.slice(1) : text });
  write(app, view, text);
}

/** Shows a line and where it would go: into the instructions of the folder. */
function askNote(app: AppContext, note: string): void {
  if (note === '')
    return app.say('write the line after the #: it goes into the instructions of this folder', 'bad');
  const where = clean(app.options.notes.place());
  const question = `Add the line "${clean(note)}" to ${where}? (With a space before the # it is sent as text.)`;
  const run = () => app.attempt(async () => app.say(app.options.notes.add(note), 'good'));
  open(app, { type: 'consent', question, yes: 'add', run });
}

/** Length above which a message is sent only after a question: it was hardly typed, and all of it is read by a model. */
const LONG_MESSAGE = 200_000;
/** Characters of a token, roughly. */
const TOKEN_CHARACTERS = 4;

/** Asks about a message that is too long to be meant, which stays the draft until it is sent. */
function askLength(app: AppContext, view: string | null, text: string): void {
  const { editor } = app;
  editor.setText(text);
  const [characters, tokens] = [text.length, text.length / TOKEN_CHARACTERS].map(count);
  const question = `Send ${characters} characters, roughly ${tokens} tokens? (Write them to a file, and an agent reads what it needs of it.)`;
  const run = () => {
    editor.setText('');
    write(app, view, text, true);
  };
  open(app, { type: 'consent', question, yes: 'send', run });
}

/** Runs a shell command (`!`), adds an instruction (`#`), or sends a message: to the agent named first (`@NAME`), otherwise to the agent in view. */
function write(app: AppContext, view: string | null, text: string, is_asked = app.line_mode): void {
  if (!is_asked && text.length > LONG_MESSAGE) return askLength(app, view, text);
  if (text.startsWith('!')) return app.own_commands.run(text);
  const note = /^#(?!#)(.*)$/.exec(text)?.[1]?.trim();
  if (note !== undefined) return app.attempt(async () => askNote(app, note));
  const letter = addressee(text);
  const named = [...app.state.agents.values()].some(({ name }) => name === letter?.agent);
  if (letter === null || !named) return writeMessage(app, view, text);
  if (letter.message === '') return app.say(`write the message after @${letter.agent}`, 'bad');
  const to = resolveAgent(app, letter.agent);
  if (to !== null) writeMessage(app, to, letter.message, text);
}
