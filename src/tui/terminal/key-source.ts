import { isKeyRelease, StdinBuffer } from '@earendil-works/pi-tui';
import { backgroundOfReport, type Colour } from './background.ts';
import { bracketedPaste, PASTE_OFF, PASTE_ON } from './control-sequences.ts';

/** Callbacks for the kinds of input from a terminal. */
export interface KeySourceListener {
  readonly onInput: (data: string) => void;
  readonly onFocus: (focused: boolean) => void;
  /** The terminal has reported which keyboard protocol it has. */
  readonly onKeyboard: (protocol: 'kitty' | 'older') => void;
  /** The terminal has reported its name and version (XTVERSION). */
  readonly onName: (name: string) => void;
  readonly onBackground: (ground: Colour) => void;
  /** The queries sent at the start have been answered, or never will be. */
  readonly onAnswered: () => void;
  /** The terminal has reported the row of the screen, from 0, in which the cursor was. */
  readonly onCursor: (row: number) => void;
}

/** How long an escape waits for the rest of its sequence; longer over a network. */
const ESCAPE_MS = 100;
const ESCAPE_REMOTE_MS = 250;
/** How long the rest of any other sequence is waited for. */
const REST_MS = 250;
/** The longest wait on a slow line: a person who presses Esc still sees what it does. */
const SLOW_MS = 750;
/** Timeout for a terminal's reports; until then, an incomplete report is kept until its rest arrives. */
const REPORTS_MS = 2_000;

// These match what follows the escape character.
const KITTY_FLAGS = /^\[\?(\d+)u$/;
const DEVICE_ATTRIBUTES = /^\[\?[\d;]*c$/;
const NAME = /^P>\|(.*).\\$/s;
const FOCUS = /^\[([IO])$/;
const CURSOR = /^\[\?(\d+);\d+(?:;\d+)?R$/;
/** The rest of a sequence, or its begin, whose escape came so much earlier that it counted as a key. */
const LATE_REST = /^(?:\[[\d;:?<]*[A-Za-z~^$]?|O[A-Z])$/;
const LATE_MS = 1_000;
/** A sequence of a key, a report or a paste, as far as it has come; another one behind a late escape is text. */
const KNOWN = /^(?:\[(?:[<?]?[\d;:]*|[A-IMO-SZ].*|[<?]?\d[\d;:]*[A-IMO-SZcmuy~^$].*)|O[A-Z])$/s;
/** Lines that are read at once: nobody types them that fast. */
const LINES = /[^\r\n][\r\n]+[^\r\n]{2,}[\r\n]/;
/** How long the rest of such lines is waited for. */
const LINES_MS = 100;
/** An incomplete sequence that is kept until its rest arrives, however late: no key that is used begins like this. */
const PART = /^\[[<?]?[\d;:]*$/;
/** The begin of a report: no key has it. */
const REPORT = /^(?:[\]P]|\[\?)/;
/** An incomplete report. */
const PART_OF_REPORT = /^(?:\](?:1(?:1(?:;.*)?)?)?|P(?:>.*)?)?$/s;

/** Splits the input of a terminal into keys and pastes, and filters out its reports. */
export class KeySource {
  readonly #buffer: StdinBuffer;
  readonly #listener: KeySourceListener;
  /** A pending high surrogate: the buffer emits surrogates one by one. */
  #half = '';
  /** Deadline for the reports that were asked for. */
  #reports_until = 0;
  /** When an escape last counted as a key. */
  #escaped_at = 0;
  /** A pending incomplete sequence. */
  #part = '';
  /** Whether the sequence that is read was begun by an escape that has counted as a key. */
  #is_late = false;
  #fed_at = 0;
  /** How late the last piece of the sequence that is read came. */
  #piece_ms = 0;
  /** How far apart the pieces of one sequence came of late. */
  #gap_ms = 0;
  readonly #escape_ms: number;
  /** Set while lines arrive that were pasted, though the terminal does not mark it; they must not be sent one by one. */
  #lines: NodeJS.Timeout | null = null;

  constructor(listener: KeySourceListener, env: NodeJS.ProcessEnv) {
    this.#listener = listener;
    this.#escape_ms = env.SSH_CONNECTION || env.SSH_TTY ? ESCAPE_REMOTE_MS : ESCAPE_MS;
    this.#buffer = new StdinBuffer({ timeout: REST_MS, escapeTimeout: this.#escape_ms });
    this.#buffer.on('data', (sequence: string) => this.#sequence(sequence));
    this.#buffer.on('paste', (text: string) => {
      this.#is_late = false;
      listener.onInput(bracketedPaste(text));
    });
  }

  /** Starts the timeout for reports: the terminal has been asked for them. */
  asked(): void {
    this.#reports_until = Date.now() + REPORTS_MS;
  }

  feed(data: string): void {
    const part = this.#part;
    if (part !== '' && !goesOn(part.slice(1), data)) {
      this.#part = '';
      if (part === '\x1b') this.#key(part);
    }
    const lines = this.#lines;
    const { pasteMode } = this.#buffer as unknown as { readonly pasteMode: boolean };
    const begins = !pasteMode && this.#part === '' && LINES.test(data);
    if ((begins || lines !== null) && !data.includes('\x1b')) {
      clearTimeout(lines ?? undefined);
      this.#buffer.process(lines === null ? `${PASTE_ON}${data}` : data);
      this.#lines = setTimeout(() => this.#endLines(), LINES_MS);
      return;
    }
    this.#endLines();
    const now = Date.now();
    const is_late = now - this.#escaped_at < LATE_MS && LATE_REST.test(data);
    const begun = is_late ? '\x1b' : this.#part;
    // A key behind Esc may be the next one that a person presses: it says nothing of the line.
    const kept = this.#buffer.getBuffer();
    const waits = begun !== '' || (kept !== '' && (kept !== '\x1b' || goesOn('', data)));
    const before_ms = this.#piece_ms;
    this.#piece_ms = waits ? now - this.#fed_at : 0;
    // A process that is busy with its start reads a report in two pieces; a slow line takes its time before each byte.
    const learnt_ms = REPORT.test((begun + kept + data).slice(1))
      ? Math.min(before_ms, this.#piece_ms)
      : this.#piece_ms;
    if (learnt_ms > 0) this.#pace(learnt_ms);
    else if (!waits && data.length > 1 && data.includes('\x1b')) this.#pace(this.#gap_ms / 2);
    this.#fed_at = now;
    this.#escaped_at = 0;
    this.#part = '';
    this.#is_late ||= is_late;
    this.#buffer.process(begun + data);
  }

  /** On a line that takes its time between the bytes of a sequence, their rest is waited for longer. */
  #pace(gap_ms: number): void {
    this.#gap_ms = gap_ms;
    const slow_ms = Math.min(SLOW_MS, 2 * gap_ms);
    const waits = this.#buffer as unknown as { timeoutMs: number; escapeTimeoutMs: number };
    waits.timeoutMs = Math.max(REST_MS, slow_ms);
    waits.escapeTimeoutMs = Math.max(this.#escape_ms, slow_ms);
  }

  #endLines(): void {
    if (this.#lines === null) return;
    clearTimeout(this.#lines);
    this.#lines = null;
    this.#buffer.process(PASTE_OFF);
  }

  /** Discards an incomplete sequence. */
  clear(): void {
    clearTimeout(this.#lines ?? undefined);
    this.#lines = null;
    this.#buffer.clear();
    this.#part = '';
    this.#is_late = false;
    this.#half = '';
  }

  #sequence(read: string): void {
    // The buffer gives up an incomplete report in pieces.
    const sequence = this.#part !== '' && this.#isPart(this.#part + read) ? this.#part + read : read;
    const escaped = sequence.startsWith('\x1b') ? sequence.slice(1) : '';
    const is_late = this.#is_late;
    this.#is_late = false;
    if (is_late && (PART.test(escaped) || !KNOWN.test(escaped))) {
      this.#pace(0);
      for (const typed of escaped) this.#key(typed);
      return;
    }
    const flags = KITTY_FLAGS.exec(escaped);
    const name = NAME.exec(escaped);
    const focus = FOCUS.exec(escaped);
    const cursor = CURSOR.exec(escaped);
    if (flags) this.#listener.onKeyboard(flags[1] === '0' ? 'older' : 'kitty');
    else if (DEVICE_ATTRIBUTES.test(escaped)) {
      this.#reports_until = 0;
      this.#listener.onKeyboard('older');
      this.#listener.onAnswered();
    } else if (/^\]\d+;/.test(escaped) && (escaped.endsWith('\x07') || escaped.endsWith('\x1b\\'))) {
      const ground = backgroundOfReport(escaped);
      if (ground !== null) this.#listener.onBackground(ground);
    } else if (name) this.#listener.onName(name[1] ?? '');
    else if (this.#isPart(sequence)) this.#part = sequence;
    else if (cursor) this.#listener.onCursor(Number(cursor[1]) - 1);
    else if (focus) this.#listener.onFocus(focus[1] === 'I');
    else if (!isKeyRelease(sequence)) this.#key(sequence);
  }

  #isPart(sequence: string): boolean {
    if (!sequence.startsWith('\x1b')) return false;
    const rest = sequence.slice(1);
    return PART.test(rest) || (PART_OF_REPORT.test(rest) && Date.now() < this.#reports_until);
  }

  #key(sequence: string): void {
    if (/^[\ud800-\udbff]$/.test(sequence)) {
      this.#half = sequence;
      return;
    }
    const whole = /^[\udc00-\udfff]$/.test(sequence) ? this.#half + sequence : sequence;
    this.#half = '';
    if (whole.endsWith('\x1b')) this.#escaped_at = Date.now();
    // Esc twice within the time of a sequence: the buffer takes the second one for the key of an Alt.
    for (const key of whole === '\x1b\x1b' ? ['\x1b', '\x1b'] : [whole])
      if (key !== '') this.#listener.onInput(key);
  }
}

/** Whether the rest of an incomplete sequence begins like this; both without the escape. */
function goesOn(part: string, data: string): boolean {
  if (part === '') return /^[[\]OP]/.test(data);
  return !PART.test(part) || KNOWN.test(part + data);
}
