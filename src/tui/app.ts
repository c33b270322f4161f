import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { matchesKey } from '@earendil-works/pi-tui';
import type { Agent, AgentConfig } from '../records/agent/agent.ts';
import { isTerminal, isWorking } from '../records/agent/state.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { UiStyle } from '../render/style.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import { withSameLedger } from '../settings/suggested-command.ts';
import type { Store } from '../store/store.ts';
import { runCommand, submit } from './app-commands.ts';
import type { AppContext } from './app-context.ts';
import { keyPressed } from './app-keys.ts';
import type { AppEnd, AppOptions, LeaveMode } from './app-options.ts';
import { AppScreen } from './app-screen.ts';
import { COMMANDS } from './commands/command-table.ts';
import { workingHere } from './commands/quit.ts';
import { CalledCommands } from './commands/saved/called-commands.ts';
import { AgentEditors } from './composer/agent-editors.ts';
import type { LineEditor } from './composer/line-editor.ts';
import type { ShellCommands } from './composer/shell-commands.ts';
import { ownCommands } from './composer/write-message.ts';
import { OpenTrees } from './connection/open-trees.ts';
import { answerByLetter } from './keys/answer-keys.ts';
import { confirmByLetter } from './keys/overlay-keys.ts';
import { Overview } from './overview/overview.ts';
import { overviewSource } from './overview/overview-source.ts';
import type { OverviewSource } from './overview/overview-state.ts';
import { LinePrinter } from './printing/line-printer.ts';
import { Notices } from './printing/notices.ts';
import type { Tone } from './state/entry.ts';
import type { UiEvent } from './state/ui-event.ts';
import { EMPTY_UI, paneOf, type UiState } from './state/ui-state.ts';
import { reduce } from './state/ui-store.ts';
import { Bell } from './terminal/bell.ts';
import type { Screen } from './terminal/screen.ts';
import { warmUp } from './text/wrap.ts';
import { windowTitle } from './views/window-title.ts';

// The terminal UI: `App` connects the runtime (`connection/`), the state (`state/`), the keys (`keys/`) and the screen (`terminal/`, `views/`).

/** Minimum time between frames for changes made by agents; a key is drawn at once. */
const FRAME_MS = 100;

/** Runs the terminal UI. Resolves once the person has left and the terminal is restored. */
export function runApp(options: AppOptions): Promise<AppEnd> {
  return new App(options).run();
}

class App implements AppContext {
  readonly options: AppOptions;
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly unled: AppOptions['unled'];
  readonly called = new CalledCommands(this);
  readonly style: UiStyle;
  readonly own_commands: ShellCommands;
  readonly screen: Screen;
  readonly line_mode: boolean;
  readonly overview: AppOverview;
  state: UiState = { ...EMPTY_UI, now: Date.now() };
  browsing = false;
  scrolled = 0;
  find: AppContext['find'] = null;
  filtering = false;
  vim: boolean;
  next_model: string | null = null;
  next_effort: AppContext['next_effort'] = null;
  #view: AppScreen | LinePrinter;
  readonly #editors: AgentEditors;
  readonly #trees: OpenTrees;
  #ticker: NodeJS.Timeout | null = null;
  #last_work = Promise.resolve();
  #draw_timer: NodeJS.Timeout | null = null;
  /** A tree that is about to be in view, until it is: what is typed meanwhile is meant for it. */
  #opening: Promise<unknown> | null = null;
  #last_draw = 0;
  readonly #notices: Notices;
  /** Whether the last frame ran out of its time budget. */
  #unfinished = false;
  readonly #bell = new Bell();
  #leave: (how: LeaveMode) => void = () => undefined;

  constructor(options: AppOptions) {
    this.options = options;
    this.runtime = options.runtime;
    this.store = options.store;
    this.unled = options.unled;
    this.style = options.style;
    this.line_mode = options.line_mode;
    this.vim = options.vim;
    this.screen = options.openScreen({
      onInput: (data) => this.#input(data),
      onResize: (left) => {
        if (left !== undefined && this.#view instanceof AppScreen) this.#view.left(left);
        this.#draw();
      },
      onHangup: () => this.leave('hangup'),
      onStray: (text) => this.#notices.print(text.trimEnd(), 'dim'),
    });
    this.#notices = new Notices(this, options.greeting);
    this.#trees = new OpenTrees(this, options, {
      onEvent: (event) => this.#onRuntimeEvent(event),
      onStarted: (root) => this.#editors.adopt(root.id),
      onReplace: () => {
        this.overview.markSeen();
        // Finished entries of the old tree are printed above the new one.
        this.#draw();
        this.#view = this.#newView();
        this.filtering = false;
      },
    });
    this.#editors = new AgentEditors({
      commands: () => [...COMMANDS, ...this.called.rows()],
      resources: () => this.called.offers()?.resources ?? [],
      agents: () => this.state.agents.values(),
      ...options,
      vim: () => this.vim,
      folder: () => this.placeOf(this.state.view).folder,
      onRedraw: () => this.#scheduleDraw(),
      onSubmit: (text) => submit(this, text),
    });
    const overview = overviewSource(options, (id, answer) => this.runtime.answer(id, answer));
    this.overview = new AppOverview(this, overview, () => this.#scheduleDraw());
    this.own_commands = ownCommands(this, options.output_folder);
    this.#view = this.#newView();
  }

  #newView(): AppScreen | LinePrinter {
    return this.line_mode ? new LinePrinter(this) : new AppScreen(this);
  }

  async run(): Promise<AppEnd> {
    const { promise, resolve } = Promise.withResolvers<LeaveMode>();
    this.#leave = resolve;
    const stop = this.runtime.subscribe((event) => this.#onRuntimeEvent(event));
    // Colours depend on the terminal's background: its answer is awaited while the tree is opened.
    const greeted = this.screen.answered.then(() => this.#notices.release());
    try {
      await this.#opens(this.#begin(greeted));
      this.#ticker = setInterval(() => this.#tick(), FRAME_MS);
      this.#draw();
      warmUp(this.style);
      const how = await promise;
      // All finished entries go into the scrollback before the terminal is restored.
      while (this.#unfinished && how !== 'hangup') {
        await setImmediate();
        this.#draw();
      }
      const { root_id } = this.state;
      const left = this.#trees.left.busy;
      const worked = root_id !== null && workingHere(this) > 0 ? [...left, root_id] : left;
      if (how === 'kill') for (const id of worked) await this.runtime.kill(id);
      this.overview.markSeen();
      return { how, root_id, left };
    } finally {
      stop();
      if (this.#ticker !== null) clearInterval(this.#ticker);
      if (this.#draw_timer !== null) clearTimeout(this.#draw_timer);
      await this.overview.close();
      await this.#trees.current.close();
      this.screen.close();
    }
  }

  async #begin(greeted: Promise<void>): Promise<void> {
    await this.#trees.begin(this.options.root_id, this.options.resume);
    await greeted;
    if (this.options.picks) runCommand(this, '/resume');
    if (this.options.first !== null) submit(this, this.options.first);
  }

  /** Keys that arrive before this has ended follow it, in their order. */
  async #opens(work: Promise<void>): Promise<void> {
    const opening = work.finally(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    this.#opening = opening;
    await opening;
  }

  get followed(): boolean {
    return this.#trees.current.followed;
  }

  get working_elsewhere(): number {
    return this.#trees.left.working;
  }

  get #root(): Agent | undefined {
    return this.state.root_id === null ? undefined : this.state.agents.get(this.state.root_id);
  }

  placeOf(agent_id: string | null): { readonly folder: string; readonly config: AgentConfig } {
    const agent = this.state.agents.get(agent_id ?? '') ?? this.#root;
    const config = agent?.config ?? this.options.begin(null).config;
    // The folder of an agent on another machine may not exist here.
    return { config, folder: existsSync(config.cwd) ? config.cwd : this.options.cwd };
  }

  get editor(): LineEditor {
    const { view } = this.state;
    const editor = this.#editors.of(view);
    editor.mode = view !== null && paneOf(this.state, view).capture !== null ? 'capture' : 'prompt';
    return editor;
  }

  get acceptsInput(): boolean {
    const agent = this.state.view === null ? undefined : this.state.agents.get(this.state.view);
    // In line mode there are no keys: commands are typed, even for an agent that has ended.
    return this.line_mode || agent === undefined || !isTerminal(agent.state.type);
  }

  dispatch(event: UiEvent): void {
    const before = this.state;
    this.state = reduce(before, event);
    if (this.state.view !== before.view) {
      this.scrolled = 0;
      this.browsing = false;
      this.find = null;
    }
    this.overview.changed(before);
    this.#trees.current.load();
    this.#scheduleDraw();
  }

  #onRuntimeEvent(event: RuntimeEvent): void {
    if (event.type === 'agent') {
      this.overview.wake();
      if (!this.#trees.shows(event.agent)) {
        // The question before quitting counts agents of other trees, too.
        if (this.state.overlay?.type === 'quit') this.#scheduleDraw();
        return;
      }
      this.#trees.current.know(event.agent);
      const rings = this.#bell.heard(this.state.agents.get(event.agent.id), event.agent, Date.now());
      if (rings !== null) this.screen.attention(basename(this.options.cwd), rings);
      if (isTerminal(event.agent.state.type)) this.refresh();
    }
    this.dispatch({ type: 'tick', now: Date.now() });
    this.dispatch({ type: 'runtime', event });
    if (event.type === 'agent' && event.agent.parent_id === null && !isWorking(event.agent.state.type))
      this.overview.markSeen();
    if (event.type === 'message') this.attempt(() => this.#trees.heard(event.agent_id, event.message));
  }

  refresh(): void {
    this.#trees.current.refresh();
  }

  addAgent(agent: Agent): void {
    if (!this.state.agents.has(agent.id))
      this.dispatch({ type: 'runtime', event: { type: 'agent', agent, created: true } });
  }

  say(said: string, tone: Tone | 'now' = 'plain'): void {
    const { view } = this.state;
    // What a person is asked to allow is shown to the letter.
    const text = tone === 'now' ? said : withSameLedger(this.unled, said);
    if (view !== null && tone !== 'now') this.dispatch({ type: 'say', agent_id: view, text, tone });
    else this.#notices.print(text, tone === 'bad' ? 'red' : 'dim');
  }

  attempt(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      const hint = error instanceof CoppiceError && error.hint !== null ? `\n${error.hint}` : '';
      this.say(`${error instanceof Error ? error.message : String(error)}${hint}`, 'bad');
    });
  }

  enqueue(work: () => Promise<void>): void {
    const before = this.#last_work;
    this.attempt(() => {
      this.#last_work = before.then(work, work);
      return this.#last_work;
    });
  }

  readonly startTree: AppContext['startTree'] = (...given) => this.#trees.start(...given);
  readonly openTree = (agent_id: string | null): Promise<void> => this.#opens(this.#trees.open(agent_id));
  readonly leave = (how: LeaveMode): void => this.#leave(how);

  #input(data: string): void {
    if (this.#opening !== null && !matchesKey(data, 'ctrl+c')) {
      const later = () => this.#input(data);
      this.#opening.then(later, later);
      return;
    }
    this.dispatch({ type: 'tick', now: Date.now() });
    keyPressed(this, data);
    this.#draw();
  }

  #tick(): void {
    if (this.state.overlay?.type === 'trees') this.overview.tick(Date.now());
    if (this.state.question?.held != null || this.state.deciding !== null) {
      this.dispatch({ type: 'tick', now: Date.now() });
      answerByLetter(this);
      confirmByLetter(this);
    }
    const { agents, leaving, escaped, shell_command } = this.state;
    const moves = !this.style.accessible && [...agents.values()].some((agent) => isWorking(agent.state.type));
    if (moves || leaving !== null || escaped !== null || shell_command !== null)
      this.dispatch({ type: 'tick', now: Date.now() });
  }

  #scheduleDraw(): void {
    if (this.#draw_timer !== null) return;
    const wait_ms = this.#last_draw + FRAME_MS - performance.now();
    this.#draw_timer = setTimeout(() => this.#draw(), Math.max(0, wait_ms));
  }

  #draw(): void {
    if (this.#draw_timer !== null) clearTimeout(this.#draw_timer);
    this.#draw_timer = null;
    if (this.#notices.held) return;
    this.#last_draw = performance.now();
    this.#unfinished = !this.#view.draw();
    this.screen.title(windowTitle(this.state, this.options.cwd, this.style));
    if (!this.#unfinished) return;
    if (this.#draw_timer !== null) clearTimeout(this.#draw_timer);
    this.#draw_timer = setTimeout(() => this.#draw(), 0);
  }
}

/** The overview as an overlay of the app; the tree in view counts as read. */
class AppOverview extends Overview {
  readonly #app: AppContext;
  readonly #source: OverviewSource;

  constructor(app: AppContext, source: OverviewSource, redraw: () => void) {
    super(source, {
      ...{ style: app.style, bindings: app.options.bindings, screen: app.screen, redraw },
      close: () => app.dispatch({ type: 'overlay', overlay: null }),
      open: (agent_id) => {
        app.dispatch({ type: 'overlay', overlay: null });
        app.attempt(() => app.openTree(agent_id));
      },
    });
    this.#app = app;
    this.#source = source;
  }

  /** Opens or closes the overview when its overlay has appeared or gone: it follows the ledger only while it is shown. */
  changed(before: UiState): void {
    const shown = this.#app.state.overlay?.type === 'trees';
    if (shown === (before.overlay?.type === 'trees')) return;
    if (!shown) return void this.close();
    this.markSeen();
    this.open();
  }

  markSeen(): void {
    const { root_id, agents } = this.#app.state;
    const changes = [...agents.values()].map(({ updated_at }) => updated_at);
    if (root_id !== null) this.#source.seen.mark(root_id, Math.max(...changes));
  }
}
