import { distance } from 'fastest-levenshtein';

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  /** Everywhere, not in the only place. Not sent to models: other programs have it. */
  readonly replace_all?: boolean | undefined;
}

const MARK = '\ufeff';
const places_named = 5;
/** Limits for finding the nearest line, which only improves an error message and must not take long on a huge file. */
const lines_compared = 1000;
const compared_characters = 200;
/** Maximum characters that are checked for a difference in white space only. */
const spaces_compared = 200_000;
const characters_searched = 2_500_000;

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** The line most similar to the first line of the wanted text. */
function nearestLine(text: string, wanted: string): string {
  const first = (wanted.split('\n').find((line) => line.trim() !== '') ?? '')
    .trim()
    .slice(0, compared_characters);
  let best = { line: 0, text: '', cost: Number.POSITIVE_INFINITY };
  for (const [index, line] of text.split('\n', lines_compared).entries()) {
    const cost = distance(first, line.trim().slice(0, compared_characters));
    if (cost < best.cost) best = { line: index + 1, text: line, cost };
  }
  if (first === '' || best.cost > first.length / 2) return 'no line is like it: call read first';
  const only_space =
    text.length + wanted.length <= spaces_compared &&
    placesOf(withoutSpace(text), withoutSpace(wanted)).length > 0
      ? 'only white space differs; '
      : '';
  return `${only_space}the nearest is line ${best.line}: ${JSON.stringify(best.text.slice(0, compared_characters))}`;
}

function applyEdit(text: string, edit: Edit, field: string): string {
  if (edit.old_text === '')
    throw new Error(`field "${field}.old_text": must not be empty; to replace a whole file use write`);
  if (edit.old_text === edit.new_text)
    throw new Error(`field "${field}": old_text and new_text are the same`);
  let { old_text, new_text } = edit;
  let source = text;
  let places = placesOf(source, old_text);
  // A file with CR LF is shown to the model with plain line breaks.
  if (places.length === 0 && /\r\n/.test(text + old_text)) {
    source = withPlainBreaks(text);
    old_text = withPlainBreaks(old_text);
    new_text = withPlainBreaks(new_text);
    places = placesOf(source, old_text);
  }
  const [place] = places;
  if (place === undefined)
    throw new Error(`field "${field}.old_text": not found; ${nearestLine(text, edit.old_text)}`);
  if (edit.replace_all === true) places = placesOf(source, old_text, Number.POSITIVE_INFINITY);
  else if (places.length > 1) {
    const lines = places.slice(0, places_named).map((at) => lineAt(text, at));
    const more = places.length > places_named ? ', …' : '';
    throw new Error(
      `field "${field}.old_text": found ${places.length}${places.length < PLACES_MAX ? '' : ' or more'} times (lines ${lines.join(', ')}${more}): add lines around it until it is found once`,
    );
  }
  if (places.length * new_text.length > characters_searched)
    throw new Error(`field "${field}.new_text": too long for ${places.length} places: use bash`);
  let [edited, end] = ['', 0];
  for (const at of places) {
    if (at < end) continue;
    edited += source.slice(end, at) + new_text;
    end = at + old_text.length;
  }
  edited += source.slice(end);
  const kept = withBreaksOf(text, edited);
  if (kept === text)
    throw new Error(`field "${field}": changes only line breaks, which stay as they are: use bash`);
  return kept;
}

/**
 * Applies all edits in order, each to the result of the one before. Each `old_text` must be found
 * exactly once. Throws an Error that names the edit, the number of matches and the nearest line.
 */
export function editText(text: string, edits: readonly Edit[]): string {
  if (text.length * edits.length > characters_searched)
    throw new Error(
      `${edits.length} edits of a file of ${text.length} characters are too many at once: make several calls`,
    );
  return edits.reduce((current, edit, at) => applyEdit(current, edit, `edits[${at}]`), text);
}

function withPlainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/**
 * Returns `after` with the byte order mark of `before` and, if that has any CR LF, its line breaks: lines that stay keep their own, and a new line gets that of
 * the line before it. Models see neither.
 */
export function withBreaksOf(before: string, after: string): string {
  const text = before.startsWith(MARK) && !after.startsWith(MARK) ? MARK + after : after;
  if (!before.includes('\r\n')) return text;
  const lines = withPlainBreaks(text).split('\n');
  const old = withPlainBreaks(before).split('\n');
  const breaks = before.match(/\r?\n/g) ?? [];
  const shorter = Math.min(lines.length, old.length);
  let start = 0;
  while (start < shorter && lines[start] === old[start]) start += 1;
  let end = 0;
  while (end < shorter - start && lines.at(-1 - end) === old.at(-1 - end)) end += 1;
  const moved = new Map(old.slice(start, old.length - end).map((line, at) => [line, breaks[start + at]]));
  let last = breaks[0];
  const broken = lines.slice(0, -1).map((line, at) => {
    const is_new = at >= start && at < lines.length - end;
    const stays = at >= lines.length - end ? at - lines.length + old.length : at;
    last = (is_new && moved.get(line)) || (is_new && at >= old.length - end ? last : breaks[stays]) || last;
    return line + last;
  });
  return broken.join('') + lines.at(-1);
}

/** Occurrences beyond this are not counted. */
export const PLACES_MAX = 100;

/** Length of the prefix that the engine's own search looks for first, which is ten times as fast. */
const BEGINNING = 8;

/**
 * Returns the first `most` occurrences of a text, overlapping ones included, in linear time (Knuth, Morris, Pratt): the engine's own search is
 * quadratic for `aaaa…b…aaaa` in a file of `a`.
 */
export function placesOf(text: string, wanted: string, most = PLACES_MAX): number[] {
  const places: number[] = [];
  const back = fallbacks(wanted);
  const beginning = wanted.slice(0, BEGINNING);
  let matched = 0;
  for (let at = 0; at < text.length && places.length < most; at += 1) {
    if (matched === 0) {
      at = text.indexOf(beginning, at);
      if (at === -1) break;
    }
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = back[matched - 1] as number;
    if (wanted.charCodeAt(matched) === unit) matched += 1;
    if (matched < wanted.length) continue;
    places.push(at + 1 - matched);
    matched = back[matched - 1] as number;
  }
  return places;
}

/** For each prefix, the length of its longest border. */
function fallbacks(text: string): Uint32Array {
  const back = new Uint32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && text.charCodeAt(matched) !== unit) matched = back[matched - 1] as number;
    if (text.charCodeAt(matched) === unit) matched += 1;
    back[at] = matched;
  }
  return back;
}
