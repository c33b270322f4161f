/** A draft with its caret, as the commands of vim see it: one text, and a place in it. */
export interface VimDraft {
  readonly text: string;
  readonly at: number;
  /** Presses a key that is not vim's. */
  press(key: keyof typeof VIM_PRESSES): void;
  /** Replaces the text, as one step of the undo; null: only moves the caret. */
  put(text: string | null, at: number): void;
}

/** Keys of the editor that do what commands of vim do. */
export const VIM_PRESSES = { left: '\x1b[D', up: '\x1b[A', down: '\x1b[B', undo: '\x1f' };

/** The marker of a long paste moves as one character, and as one word. */
const MARKER = String.raw`\[paste #\d+(?: (?:\+\d+ lines|\d+ chars))?\]`;
const MARKER_FIRST = new RegExp(`^${MARKER}`);
const WORD = new RegExp(`${MARKER}|[\\p{L}\\p{M}\\p{N}_]+|[^\\p{L}\\p{M}\\p{N}_\\s]+`, 'gu');

/** Commands of vim that are not here and take the next character: it must not be taken for a command. Behind an operator, also objects of text. */
const TAKES_NEXT = /^(?:[cdy][aiFTfgt'`]|["'`@FTfgmqrtz])$/;

/** How often a command is repeated at most. */
const COUNT_MAX = 1_000;

/** The usual few commands of vim: motions, also behind `d`, `c` and `y`, with counts; what is cut or yanked is put back by `p` and `P`. */
export class VimKeys {
  mode: 'INSERT' | 'NORMAL' = 'INSERT';
  /** `d`, `c` or `y`, until its motion comes. */
  #operator = '';
  /** The digits before the operator, and before the next key. */
  #counts = ['', ''];
  #ignores_next = false;
  #cut = { text: '', lines: false };

  insert(): void {
    this.mode = 'INSERT';
    this.#expect('');
  }

  #expect(operator: string, digits = ''): void {
    this.#ignores_next = false;
    this.#operator = operator;
    this.#counts = [digits, ''];
  }

  /** Esc; false if it is still to do what it does without vim: nothing is written, or there is nothing of vim to end. */
  escape(draft: VimDraft): boolean {
    const ends = this.mode === 'INSERT' || this.#operator !== '' || this.#counts[1] !== '';
    if (this.mode === 'INSERT' && draft.at > placesOf(draft).begin) draft.press('left');
    this.insert();
    this.mode = 'NORMAL';
    return ends && draft.text !== '';
  }

  /** A character that is typed in the normal mode. */
  command(draft: VimDraft, key: string): void {
    if (this.#ignores_next) return this.#expect('');
    const [before = '', digits = ''] = this.#counts;
    if (/[1-9]/.test(key) || (key === '0' && digits !== '')) {
      this.#counts = [before, digits + key];
      return;
    }
    const operator = this.#operator;
    const count = Math.min(COUNT_MAX, Number(before || 1) * Number(digits || 1));
    this.#expect('');
    const { begin } = placesOf(draft);
    const motion = motionsOf(draft, operator, key, count);
    if (operator !== '' && key === operator) {
      const lines = draft.text.slice(begin).split('\n').slice(0, count).join('\n');
      this.#take(draft, begin, begin + lines.length, operator, true);
    } else if (operator === '' && /[cdy]/.test(key)) this.#expect(key, digits);
    else if (TAKES_NEXT.test(operator + key)) this.#ignores_next = true;
    else if (operator !== '') {
      if (motion !== null) this.#take(draft, draft.at, motion, operator);
    } else if (motion !== null) {
      draft.put(null, motion);
      if (key === 'e') draft.press('left');
    } else this.#act(draft, key, count);
    // The caret stands on a character, not behind the last one.
    const now = placesOf(draft);
    if (this.mode === 'NORMAL' && draft.at === now.end && draft.at > now.begin) draft.press('left');
  }

  #act(draft: VimDraft, key: string, count: number): void {
    const { text, at } = draft;
    const { begin, end, next } = placesOf(draft);
    const press = (pressed: keyof typeof VIM_PRESSES, within = () => true) => {
      for (let left = count; left > 0 && within(); left -= 1) draft.press(pressed);
    };
    const inserting: Readonly<Record<string, () => void>> = {
      i: () => undefined,
      a: () => draft.put(null, next),
      I: () => draft.put(null, begin),
      A: () => draft.put(null, end),
      o: () => draft.put(`${text.slice(0, end)}\n${text.slice(end)}`, end + 1),
      O: () => draft.put(`${text.slice(0, begin)}\n${text.slice(begin)}`, begin),
      C: () => this.#take(draft, at, end, 'c'),
    };
    const acting: Readonly<Record<string, () => void>> = {
      h: () => press('left', () => draft.at > begin),
      j: () => press('down'),
      k: () => press('up'),
      x: () => this.#take(draft, at, motionsOf(draft, '', 'l', count) ?? next, 'd'),
      D: () => this.#take(draft, at, end, 'd'),
      p: () => this.#paste(draft, this.#cut.lines ? end : next, '\n', '', count),
      P: () => this.#paste(draft, this.#cut.lines ? begin : at, '', '\n', count),
      u: () => press('undo'),
    };
    if (inserting[key] === undefined) return acting[key]?.();
    inserting[key]();
    this.insert();
  }

  /** Cuts the text between two places; `c` goes on with what takes its place. */
  #take(draft: VimDraft, one: number, other: number, operator: string, lines = false): void {
    const [from, until] = [Math.min(one, other), Math.max(one, other)];
    const { text } = draft;
    if (operator === 'c') this.insert();
    if (from === until && !lines) return;
    this.#cut = { text: text.slice(from, until), lines };
    if (operator === 'y') return draft.put(null, lines ? draft.at : from);
    if (!lines || operator === 'c') draft.put(text.slice(0, from) + text.slice(until), from);
    else if (until < text.length) draft.put(text.slice(0, from) + text.slice(until + 1), from);
    else draft.put(text.slice(0, Math.max(0, from - 1)), text.lastIndexOf('\n', from - 2) + 1);
  }

  #paste(draft: VimDraft, place: number, before: string, behind: string, count: number): void {
    const { text: cut, lines } = this.#cut;
    const { text } = draft;
    if (cut === '' && !lines) return;
    const put = (lines ? before + cut + behind : cut).repeat(count);
    draft.put(text.slice(0, place) + put + text.slice(place), place + (lines ? before.length : put.length));
    if (!lines) draft.press('left');
  }
}

type Place = Pick<VimDraft, 'text' | 'at'>;

/** Where a motion leads so many times, if the key is one; only the last time is its operator's. */
function motionsOf({ text, at }: Place, operator: string, key: string, count: number): number | null {
  let [from, to]: [number, number | null] = [at, null];
  for (let left = count; left > 0; left -= 1) {
    to = motionOf({ text, at: from }, left === 1 ? operator + key : key);
    if (to === null || to === from) return to;
    // The end of a word is behind its last character, on which the caret would stand.
    from = key === 'e' ? to - 1 : to;
  }
  return to;
}

/** Where a motion leads, if the key is one; `key`: with the operator before it. */
function motionOf(draft: Place, key: string): number | null {
  const { text, at } = draft;
  const { begin, end, next } = placesOf(draft);
  const words = [...text.matchAll(WORD)].map(({ index, 0: { length } }) => [index, index + length] as const);
  const following = words.find(([first]) => first > at)?.[0] ?? text.length;
  switch (key.slice(-1)) {
    case '0':
      return begin;
    case '$':
      return end;
    case 'l':
      return next;
    case 'w': {
      if (key === 'w') return following;
      // `cw` leaves the space behind the word; an operator stays in its line.
      const word = key === 'cw' ? words.find(([first, last]) => first <= at && at < last) : undefined;
      return word?.[1] ?? Math.min(following, end);
    }
    case 'b':
      return words.findLast(([first]) => first < at)?.[0] ?? 0;
    case 'e':
      return words.find(([, last]) => last > next)?.[1] ?? text.length;
    default:
      return null;
  }
}

/** Begin and end of the line of the caret, and where its next character begins. */
function placesOf({ text, at }: Place): { begin: number; end: number; next: number } {
  const behind = text.indexOf('\n', at);
  const end = behind < 0 ? text.length : behind;
  const rest = text.slice(at, end);
  const marker = MARKER_FIRST.exec(rest)?.[0];
  const [character] = marker === undefined ? new Intl.Segmenter().segment(rest) : [{ segment: marker }];
  return {
    begin: text.slice(0, at).lastIndexOf('\n') + 1,
    end,
    next: at + (character?.segment.length ?? 0),
  };
}
