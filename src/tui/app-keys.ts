import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matchesKey } from '@earendil-works/pi-tui';
import { isWorking } from '../records/agent/state.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { runCommand } from './app-commands.ts';
import type { AppContext } from './app-context.ts';
import { ACTIONS, type Action, type Direction, type KeyAction } from './commands/command-table.ts';
import { unfold } from './commands/find.ts';
import { quit } from './commands/quit.ts';
import { clipboardPicture } from './composer/attachments/clipboard-picture.ts';
import { takeBack } from './composer/write-message.ts';
import { actionOf, printable, rowStep, typedText } from './keys/action-of.ts';
import { answerByChord, answerByLetter, denialReasonKey, JUST_UP } from './keys/answer-keys.ts';
import { grantKey, panelKey } from './keys/grant-keys.ts';
import { helpRows } from './keys/key-rows.ts';
import { describeBindings } from './keys/keys-config.ts';
import { answersInList, overlayKey } from './keys/overlay-keys.ts';
import { shortcuts } from './keys/shortcuts.ts';
import { type Answer, isAnswer } from './state/answer.ts';
import { isList } from './state/confirmation.ts';
import { isInPanel, mayAnswer } from './state/question-in-view.ts';
import type { Overlay } from './state/ui-state.ts';
import { bracketedPaste } from './terminal/control-sequences.ts';
import { drawingWidth } from './terminal/screen.ts';
import { hasPages } from './views/approvals/approval-box.ts';
import { queuedInView } from './views/input/queued-lines.ts';
import { helpLines } from './views/lists/keys-help.ts';

/** Handles one key, or one paste. */
export function keyPressed(app: AppContext, data: string): void {
  const { state, editor } = app;
  // A mouse report neither answers nor types.
  if (data.startsWith(MOUSE)) return mouse(app, data);
  if (state.escaped !== null && !matchesKey(data, 'escape')) app.dispatch({ type: 'escaped', on: false });
  const found = findKey(app, data);
  if (found === 'taken') return;
  const begun_at = state.leader ? state.typed_at : state.now;
  const drafting = editor.completing || editor.searching || editor.text !== '';
  const writes = state.overlay === null && !state.leader && !drafting;
  const text = printable(data);
  const is_again =
    text !== null &&
    !state.leader &&
    editor.text.toLowerCase() === text.toLowerCase().repeat(editor.text.length);
  const panel = state.overlay === null && isInPanel(state.question) ? state.question?.grant : null;
  const answers = writes || (panel != null && !state.leader) || answersInList(app, text);
  // A letter that has ended a search answers nothing; nor does one that leaves no text before it that would tell it from a sentence.
  const traceless = writes && editor.vim_mode === 'NORMAL' && !state.armed;
  const alone = answers && found !== 'words' && !traceless ? text : null;
  app.dispatch({ type: 'typed', alone, again: is_again ? text : null, drafting });
  if (isList(state.overlay) && actionOf(data, false, app.options.bindings) === 'suspend')
    return app.screen.suspend();
  if (state.overlay?.type === 'keys') return keysKey(app, state.overlay, data);
  if (state.overlay !== null && overlayKey(app, state.overlay, data)) return;
  // An open list of completions takes its own keys.
  if (
    editor.completing &&
    ['escape', 'tab', 'enter', 'up', 'down'].some((key) => matchesKey(data, key as 'tab'))
  )
    return editor.handleInput(data);
  const action = actionOf(data, state.leader, app.options.bindings, state.question !== null);
  if (action !== 'search_history' && editor.searching && editor.searchKey(data)) return;
  if (state.leader && action !== 'leader') app.dispatch({ type: 'leader', on: false });
  const saying = state.question?.saying ?? null;
  const writing = !state.leader && saying === null && state.question?.grant == null;
  if (writing && app.acceptsInput && editor.vimKey(data)) return;
  if (!state.leader && closesQuestion(app, data, action)) return;
  if (isAnswer(action)) return answerByChord(app, action, begun_at);
  if (action !== null) return act(app, action);
  if (state.leader) return;
  if (saying !== null) return denialReasonKey(app, saying, data);
  if (grantKey(app, data)) return;
  if (turnsPages(app, data) || scrolls(app, data)) return;
  if (panel != null) return panelKey(app, state, panel.typed, data);
  if (matchesKey(data, 'up') && editor.text === '' && queuedInView(app.state).length > 0)
    return takeBack(app);
  // An armed letter is not written.
  if (writes && app.state.armed && app.state.question !== null)
    return app.state.question.held === null ? app.say(JUST_UP) : answerByLetter(app);
  if (app.acceptsInput) editor.handleInput(data);
  else if (printable(data) === '/') runCommand(app, '/find');
  answerByLetter(app);
}

/** Handles a key while the scrollback is searched; the view stays at the hit, or goes back to where it was. */
function findKey(app: AppContext, data: string): 'taken' | 'words' | null {
  const { find, state } = app;
  if (find === null || state.overlay !== null || state.leader) return null;
  const did = find.key(data);
  if (did === 'passed') return scrolls(app, data) ? 'taken' : null;
  if (did !== 'taken') app.find = null;
  if (did === 'back') [app.scrolled, app.browsing] = [0, find.browsed];
  // A question that was hidden meanwhile has to be read before letters answer it.
  if (app.find === null && state.question !== null) app.dispatch({ type: 'question', shown: true });
  if (did === 'words') return 'words';
  app.dispatch({ type: 'typed', alone: null, drafting: true });
  return 'taken';
}

function keysKey(app: AppContext, overlay: Extract<Overlay, { readonly type: 'keys' }>, data: string): void {
  const { filter = '', from = 0 } = overlay;
  const by = rowStep(data);
  const filtered = (next: string) =>
    app.dispatch({ type: 'overlay', overlay: { type: 'keys', filter: next } });
  if (by !== 0) {
    const { screen, style, options } = app;
    const rows = helpRows(options.bindings, app.called.rows());
    const { leader } = shortcuts(describeBindings(options.bindings));
    const { length } = helpLines(rows, filter, leader, drawingWidth(screen), screen.rows, style);
    const to = Math.max(0, Math.min(from + by, length + 2 - screen.rows));
    return app.dispatch({ type: 'overlay', overlay: { ...overlay, from: to } });
  }
  if (matchesKey(data, 'backspace')) return filtered([...filter].slice(0, -1).join(''));
  if (matchesKey(data, 'escape') && filter !== '') return filtered('');
  const typed = typedText(data);
  if (typed === null) app.dispatch({ type: 'overlay', overlay: null });
  else filtered(filter + typed);
}

/** Esc or Ctrl-C takes back the reason of a denial or a rule to be granted; otherwise Esc postpones the question. Neither ever answers. */
function closesQuestion(app: AppContext, data: string, action: Action | null): boolean {
  const { question, now } = app.state;
  if (question === null) return false;
  const is_escape = matchesKey(data, 'escape');
  if (question.saying !== null && (is_escape || action === 'clear')) {
    app.dispatch({ type: 'saying', text: null });
    return true;
  }
  if (question.grant !== null && (is_escape || action === 'clear')) {
    app.dispatch({ type: 'grant', change: 'back' });
    return true;
  }
  // Until the question has been visible long enough to be read, Esc is meant for the agent in view.
  if (!is_escape || !mayAnswer(app.state, now)) return false;
  app.dispatch({ type: 'question', shown: false });
  return true;
}

/** Turns the pages of a question that does not fit the screen; false if the key does not do that. */
function turnsPages(app: AppContext, data: string): boolean {
  const { state, screen, style } = app;
  const [ask] = state.asks;
  const by = matchesKey(data, 'pageDown') ? 1 : matchesKey(data, 'pageUp') ? -1 : 0;
  if (by === 0 || ask === undefined || state.question === null) return false;
  if (!hasPages(ask, drawingWidth(screen), screen.rows, style)) return false;
  app.dispatch({ type: 'turned', by });
  return true;
}

const MOUSE = '\x1b[<';
const WHEEL_UP = `${MOUSE}64;`;
const WHEEL_DOWN = `${MOUSE}65;`;
/** Number of lines per step of the wheel. */
const WHEEL_LINES = 3;

/** Scrolls the full screen; false for other keys, and inline, where the terminal itself scrolls. */
function scrolls(app: AppContext, data: string): boolean {
  if (!app.screen.full) return false;
  const page = Math.max(1, app.screen.rows - 6);
  const steps = { pageUp: page, pageDown: -page, 'shift+up': 1, 'shift+down': -1 } as const;
  const by = Object.entries(steps).find(([key]) => matchesKey(data, key as keyof typeof steps))?.[1] ?? 0;
  if (by === 0) return false;
  app.scrolled = Math.max(0, app.scrolled + by);
  return true;
}

/** Handles a mouse report, which the terminal sends on the full screen only: the wheel scrolls, clicks do nothing. */
function mouse(app: AppContext, data: string): void {
  const by = data.startsWith(WHEEL_UP) ? WHEEL_LINES : data.startsWith(WHEEL_DOWN) ? -WHEEL_LINES : 0;
  if (app.state.overlay === null) app.scrolled = Math.max(0, app.scrolled + by);
}

/** What keys do that no command does. */
const EFFECTS: { readonly [A in Exclude<KeyAction, Answer> | Direction]: (app: AppContext) => void } = {
  leader: (app) => app.dispatch({ type: 'leader', on: !app.state.leader }),
  parent: (app) => app.dispatch({ type: 'go', to: 'parent' }),
  child: (app) => app.dispatch({ type: 'go', to: 'child' }),
  previous_sibling: (app) => app.dispatch({ type: 'go', to: 'previous' }),
  next_sibling: (app) => app.dispatch({ type: 'go', to: 'next' }),
  interrupt,
  unfold,
  search_history: (app) => (app.acceptsInput ? app.editor.searchHistory() : undefined),
  take_back: takeBack,
  redo: (app) => app.editor.redo(),
  paste_picture: (app) => (app.acceptsInput ? pastePicture(app) : undefined),
  edit_draft: (app) => (app.acceptsInput ? editDraft(app) : undefined),
  clear,
  suspend: (app) => app.screen.suspend(),
};

function act(app: AppContext, action: Exclude<Action, Answer>): void {
  if (action in EFFECTS) return EFFECTS[action as keyof typeof EFFECTS](app);
  const slot = /^slot_(\d)$/.exec(action)?.[1];
  if (slot !== undefined) return app.dispatch({ type: 'slot', slot: Number(slot) });
  runCommand(app, `/${ACTIONS.find((one) => one.action === action)?.command}`);
}

/** Stops the person's own command if one is running; otherwise interrupts the agent in view, never another one, and never kills. */
function interrupt(app: AppContext): void {
  if (app.own_commands.stop()) return;
  const { view } = app.state;
  const agent = view === null ? undefined : app.state.agents.get(view);
  if (agent !== undefined && isWorking(agent.state.type))
    return app.attempt(() => app.runtime.interrupt(agent.id, 'Esc was pressed'));
  // Nothing to interrupt: Esc closes the whole scrollback; twice, it goes back.
  if (app.browsing) app.browsing = false;
  else if (app.state.escaped !== null) runCommand(app, '/rewind');
  else if (app.editor.text === '' && agent !== undefined) return app.dispatch({ type: 'escaped', on: true });
  app.dispatch({ type: 'escaped', on: false });
}

function clear(app: AppContext): void {
  if (app.editor.text !== '') app.editor.setText('');
  else if (app.own_commands.stop()) return;
  else if (app.state.leaving !== null) return quit(app);
  app.dispatch({ type: 'leaving' });
}

/** Puts a mention of the picture in the clipboard into the draft. */
function pastePicture(app: AppContext): void {
  const { editor } = app;
  app.attempt(async () => {
    const file = await clipboardPicture(app.options.output_folder);
    if (file === null)
      return app.say(
        'no picture in the clipboard of this machine (it is read by wl-paste, xclip or osascript)',
      );
    editor.handleInput(bracketedPaste(file));
    app.dispatch({ type: 'tick', now: Date.now() });
  });
}

/** Opens the draft in the person's editor, which owns the terminal meanwhile; agents go on. */
function editDraft(app: AppContext): void {
  const { editor, screen } = app;
  app.attempt(async () => {
    const command = process.env.VISUAL || process.env.EDITOR;
    if (!command)
      throw new CoppiceError('E_INVALID_ARGUMENT', 'no editor is set', {
        hint: 'Set VISUAL or EDITOR before you start the program, for example: export EDITOR=vim',
      });
    const folder = await mkdtemp(join(tmpdir(), 'coppice-draft-'));
    try {
      const file = join(folder, 'draft.md');
      await writeFile(file, editor.text, { mode: 0o600 });
      await screen.lend(() => edit(command, file));
      editor.setText((await readFile(file, 'utf8')).replace(/\r?\n$/, ''));
      // Triggers a redraw.
      app.dispatch({ type: 'tick', now: Date.now() });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Runs the editor; rejects if it cannot be started or fails, and then the draft stays as it was. */
async function edit(command: string, file: string): Promise<void> {
  // The variables may contain arguments: `code --wait`. The trap lets Ctrl-C reach the editor without ending the shell around it.
  const child = spawn('/bin/sh', ['-c', `trap : INT; ${command} "$1"`, 'sh', file], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code === 0) return;
  const missing = code === 127 || code === 126;
  throw new CoppiceError(
    'E_INVALID_ARGUMENT',
    missing
      ? `the editor ${command} cannot be started`
      : `the editor ended with ${signal ?? `exit code ${code}`}; the draft is as it was`,
    missing ? { hint: 'VISUAL, or else EDITOR, names the editor.' } : {},
  );
}
