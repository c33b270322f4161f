/** Beyond so many nobody reads how often it was found. */
export const PLACES_MAX = 100;

/** Where not even so much of it stands, the engine looks, which is ten times as fast. */
const BEGINNING = 8;

/**
 * Where a text stands in another, overlapping places included, the first hundred. Each character is looked at a fixed number of times (Knuth, Morris, Pratt):
 * the search of the engine takes a text times a pattern for `aaaa…b…aaaa` in a file of `a`.
 */
export function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  const back = fallbacks(wanted);
  const beginning = wanted.slice(0, BEGINNING);
  let matched = 0;
  for (let at = 0; at < text.length && places.length < PLACES_MAX; at += 1) {
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

/** For each beginning of the text: how much of it is also its end. */
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
