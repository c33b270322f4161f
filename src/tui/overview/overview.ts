import { matchesKey } from '@earendil-works/pi-tui';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import { Poll } from '../../processes/poll.ts';
import type { UiStyle } from '../../render/style.ts';
import { actionOf, printable, rowStep } from '../keys/action-of.ts';
import { type AnswerContext, answerByChord, answerByLetter, denialReasonKey } from '../keys/answer-keys.ts';
import { grantKey } from '../keys/grant-keys.ts';
import { describeBindings, type KeyBindings } from '../keys/keys-config.ts';
import { type Shortcuts, shortcuts } from '../keys/shortcuts.ts';
import { isAnswer } from '../state/answer.ts';
import type { UiEvent } from '../state/ui-event.ts';
import { EMPTY_UI } from '../state/ui-state.ts';
import { reduce } from '../state/ui-store.ts';
import { drawingWidth, type Frame, type Screen } from '../terminal/screen.ts';
import { hasPages } from '../views/approvals/approval-box.ts';
import {
  filterAfter,
  filtered,
  moved,
  nextToRead,
  type OverviewSource,
  type OverviewState,
  PAGE,
  peekOf,
  selectedTree,
} from './overview-state.ts';
import { overviewRows, overviewView } from './overview-view.ts';

/** The UI in which the overview is shown. */
export interface OverviewHost {
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly screen: Pick<Screen, 'columns' | 'rows'>;
  redraw(): void;
  open(agent_id: string): void;
  close(): void;
}

/** Poll interval without wake-ups, since these may be lost. */
const POLL_MS = 5_000;
/** Pause between two reads of the ledger: at least `ms`, and at least `times` the duration of the last read. */
const PAUSE = { ms: 1_000, times: 10 } as const;

/** The overview of all trees: follows the ledger while it is open. */
export class Overview {
  readonly #source: OverviewSource;
  readonly #host: OverviewHost;
  readonly #shortcuts: Shortcuts;
  #state: OverviewState;
  #poll: Poll | null = null;
  #unlisten: Promise<() => Promise<void>> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #rested_at = 0;
  /** The notice of the last read of the ledger, if that failed. */
  #failed: OverviewState['notice'] = null;
  /** The root of the tree whose peek is shown or being read. */
  #peeking: string | null = null;

  constructor(source: OverviewSource, host: OverviewHost) {
    this.#source = source;
    this.#host = host;
    this.#shortcuts = shortcuts(describeBindings(host.bindings));
    this.#state = {
      ...{ trees: [], seen: source.seen.read(), limit: PAGE, filter: '', selected: null, peek: null },
      ...{ leader: false, loaded: false, notice: null, now: Date.now() },
    };
  }

  get state(): OverviewState {
    return this.#state;
  }

  open(): void {
    if (this.#poll !== null) return;
    this.#state = { ...this.#state, seen: this.#source.seen.read() };
    this.#poll = new Poll(() => this.#look());
    this.#unlisten = this.#source.listen(() => this.wake());
    this.#unlisten.catch(() => undefined);
    this.#poll.wake();
  }

  async close(): Promise<void> {
    const [poll, unlisten] = [this.#poll, this.#unlisten];
    this.#poll = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#peeking = null;
    this.#set({ filter: '', selected: null, peek: null, leader: false, notice: null, limit: PAGE });
    await poll?.stop();
    await (await unlisten?.catch(() => undefined))?.();
  }

  /** Schedules a read: something was written. */
  wake(): void {
    if (this.#poll === null) return;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        this.#poll?.wake();
      },
      Math.max(0, this.#rested_at - performance.now()),
    );
  }

  /** Updates ages, and answers by a held letter once no other key has followed it for long enough. */
  tick(now: number): void {
    const second = Math.floor(now / 1000) !== Math.floor(this.#state.now / 1000);
    this.#state = { ...this.#state, now };
    this.#window({ type: 'tick', now });
    if (this.#state.peek?.window.question?.held != null) answerByLetter(this.#answering());
    // In accessible mode nothing changes by itself.
    else if (!second || this.#host.style.accessible) return;
    this.#host.redraw();
  }

  frame(height: number): Frame {
    const { screen, style } = this.#host;
    return overviewView(this.#state, drawingWidth(screen), height, style, this.#shortcuts);
  }

  /** Reads the list once and returns it as plain lines. */
  async lines(): Promise<readonly string[]> {
    await this.#read();
    const { screen, style } = this.#host;
    return overviewRows(this.#state, drawingWidth(screen), style, false).map(({ text }) => text);
  }

  key(data: string): void {
    const { leader, peek } = this.#state;
    const question = peek?.window.question ?? null;
    const begun_at = leader && peek !== null ? peek.window.typed_at : Date.now();
    this.#set({ notice: null });
    this.#window({ type: 'tick', now: Date.now() });
    const text = leader ? null : printable(data);
    this.#window({ type: 'typed', alone: text });
    const action = actionOf(data, leader, this.#host.bindings, question !== null);
    if (leader) {
      this.#set({ leader: false });
      if (isAnswer(action) && question !== null) answerByChord(this.#answering(), action, begun_at);
      return;
    }
    if (question?.saying != null) return this.#denialReasonKey(question.saying, data, action === 'clear');
    if (question?.grant != null && this.#grantKey(data, action === 'clear')) return;
    if (action === 'leader') return this.#set({ leader: true });
    const filter = question === null ? filterAfter(this.#state.filter, data) : null;
    if (filter !== null) {
      this.#unpeek();
      return this.#moveTo(filtered(this.#state, filter));
    }
    if (action === 'clear' || matchesKey(data, 'escape') || data === 'q')
      return peek === null || action === 'clear' ? this.#host.close() : this.#unpeek();
    if (matchesKey(data, 'enter')) return this.#enter();
    if (matchesKey(data, 'space')) return peek === null ? this.#peek() : this.#unpeek();
    if (matchesKey(data, 'tab')) return this.#moveTo(nextToRead(this.#state));
    const by = rowStep(data);
    if (by !== 0) this.#move(by);
  }

  #denialReasonKey(saying: string, data: string, clears: boolean): void {
    if (clears || matchesKey(data, 'escape')) this.#window({ type: 'saying', text: null });
    else denialReasonKey(this.#answering(), saying, data);
  }

  #grantKey(data: string, clears: boolean): boolean {
    if (!clears && !matchesKey(data, 'escape')) return grantKey(this.#answering(), data);
    this.#window({ type: 'grant', change: 'back' });
    return true;
  }

  #move(by: number): void {
    const { peek } = this.#state;
    const [ask] = peek?.window.asks ?? [];
    const { screen, style } = this.#host;
    const pages = Math.abs(by) > 1 && peek?.window.question != null && ask !== undefined;
    if (pages && hasPages(ask, drawingWidth(screen), screen.rows, style))
      return this.#window({ type: 'turned', by: Math.sign(by) });
    this.#moveTo(moved(this.#state, by));
  }

  #moveTo(next: OverviewState): void {
    const { limit, peek } = this.#state;
    this.#set(next);
    if (next.limit > limit) this.#poll?.wake();
    if (peek !== null) this.#peek();
  }

  #enter(): void {
    const tree = selectedTree(this.#state);
    if (tree !== null) this.#host.open(tree.root_id);
  }

  /** Opens or updates the peek at the selected tree, which then counts as read. */
  #peek(): void {
    const tree = selectedTree(this.#state);
    if (tree === null) return;
    this.#peeking = tree.root_id;
    this.#set({ selected: tree.root_id });
    void this.#attempt(() => this.#readPeek(tree));
  }

  #unpeek(): void {
    this.#peeking = null;
    this.#set({ peek: null });
  }

  async #readPeek(tree: TreeRow): Promise<void> {
    const { peek, seen } = this.#source;
    const { root_id, updated_at } = tree;
    const read = await peek(tree);
    if (this.#peeking !== root_id) return;
    seen.mark(root_id, Date.parse(updated_at));
    const before = this.#state.peek?.root_id === root_id ? this.#state.peek : null;
    this.#set({ peek: peekOf(root_id, read, before, Date.now()) });
  }

  async #look(): Promise<number> {
    const began = performance.now();
    const failed = await this.#attempt(() => this.#read());
    if (failed === null && this.#failed !== null && this.#state.notice === this.#failed)
      this.#set({ notice: null });
    this.#failed = failed;
    const pause = Math.max(PAUSE.ms, (performance.now() - began) * PAUSE.times);
    this.#rested_at = performance.now() + pause;
    return Math.max(POLL_MS, pause);
  }

  async #read(): Promise<void> {
    const { list, seen } = this.#source;
    const trees = await list(this.#state.limit);
    const { peek, trees: before } = this.#state;
    this.#set({ trees, seen: seen.read(), loaded: true });
    // The selection is made explicit, so that rows that come later do not move it.
    this.#set({ selected: selectedTree(this.#state)?.root_id ?? null });
    const peeked = (rows: readonly TreeRow[]) => rows.find(({ root_id }) => root_id === peek?.root_id);
    const row = peeked(trees);
    if (row !== undefined && row !== peeked(before)) await this.#readPeek(row);
  }

  /** Runs work; resolves to the notice of its failure, or null. */
  async #attempt(work: () => Promise<void>): Promise<OverviewState['notice']> {
    try {
      await work();
      return null;
    } catch (error) {
      const notice = { text: error instanceof Error ? error.message : String(error), bad: true };
      this.#set({ notice });
      return notice;
    }
  }

  #set(change: Partial<OverviewState>): void {
    this.#state = { ...this.#state, ...change };
    this.#host.redraw();
  }

  #window(event: UiEvent): void {
    const { peek } = this.#state;
    if (peek !== null)
      this.#state = { ...this.#state, peek: { ...peek, window: reduce(peek.window, event) } };
  }

  /** The context in which the question of the peek is answered like one of the tree in view. */
  #answering(): AnswerContext {
    const overview = this;
    const { answer } = this.#source;
    return {
      get state() {
        return overview.#state.peek?.window ?? EMPTY_UI;
      },
      acceptsInput: false,
      editor: { text: '', setText: () => undefined },
      runtime: { answer },
      dispatch: (event) => {
        if (event.type === 'visit') return overview.#host.open(event.agent_id);
        overview.#window(event);
        overview.#host.redraw();
      },
      say: (text, tone) => overview.#set({ notice: { text, bad: tone === 'bad' } }),
      attempt: (work) => void overview.#attempt(work),
      refresh: () => overview.#peek(),
    };
  }
}
