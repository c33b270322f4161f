import { isKittyProtocolActive, setKittyProtocolActive } from '@earendil-works/pi-tui';

/** Keyboard flags: disambiguate escape codes (1), report alternate keys (4). */
const KITTY_ON = '\x1b[>5u';
const KITTY_OFF = '\x1b[<u';
const KITTY_QUERY = '\x1b[?u';
const OTHER_KEYS_ON = '\x1b[>4;2m';
const OTHER_KEYS_OFF = '\x1b[>4;0m';
const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';
const FOCUS_ON = '\x1b[?1004h';
const FOCUS_OFF = '\x1b[?1004l';
const ALTERNATE_ON = '\x1b[?1049h';
const ALTERNATE_OFF = '\x1b[?1049l';
/** Reports of buttons and the wheel, as CSI sequences; only on the alternate screen: inline, the terminal scrolls. */
const MOUSE_ON = '\x1b[?1000h\x1b[?1006h';
const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';
const NAME_QUERY = '\x1b[>q';
const BACKGROUND_QUERY = '\x1b]11;?\x1b\\';
/** Every terminal answers this query; by then the earlier ones have been answered, or never will be. */
const ATTRIBUTES_QUERY = '\x1b[c';

/** The modes that were set in a terminal, so that they can be reset. Each method returns what has to be written. */
export class TerminalModes {
  #taken = false;
  #kitty = false;
  #other_keys = false;
  #alternate = false;

  get alternate(): boolean {
    return this.#alternate;
  }

  take(): string {
    this.#taken = true;
    return `${PASTE_ON}${FOCUS_ON}${KITTY_ON}${KITTY_QUERY}${NAME_QUERY}${BACKGROUND_QUERY}${ATTRIBUTES_QUERY}`;
  }

  /** Takes a reported keyboard protocol; the first report counts, since a terminal with the newer protocol reports that first. */
  keyboard(protocol: 'kitty' | 'older'): string {
    if (!this.#taken || this.#kitty || this.#other_keys) return '';
    this.#kitty = protocol === 'kitty';
    this.#other_keys = protocol === 'older';
    if (isKittyProtocolActive() !== this.#kitty) setKittyProtocolActive(this.#kitty);
    if (this.#other_keys) return OTHER_KEYS_ON;
    return this.#alternate ? KITTY_ON : '';
  }

  enterAlternate(): string {
    this.#alternate = true;
    // Each of the two screens has keyboard modes of its own.
    return `${ALTERNATE_ON}${this.#kitty ? KITTY_ON : ''}${MOUSE_ON}`;
  }

  leaveAlternate(): string {
    if (!this.#alternate) return '';
    this.#alternate = false;
    // Clears the screen first: after a resize, tmux would put lines of it into its history.
    return `${MOUSE_OFF}\x1b[H\x1b[J${this.#kitty ? KITTY_OFF : ''}${ALTERNATE_OFF}`;
  }

  give(): string {
    if (!this.#taken) return '';
    const other_keys = this.#other_keys ? OTHER_KEYS_OFF : '';
    const alternate = this.leaveAlternate();
    this.#taken = false;
    this.#kitty = false;
    this.#other_keys = false;
    return `${alternate}${KITTY_OFF}${other_keys}${FOCUS_OFF}${PASTE_OFF}`;
  }
}
