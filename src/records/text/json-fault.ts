/** Returns where a text that is not JSON stops being JSON, such as `line 3, column 5`. Quotes nothing of it. */
export function jsonFaultPlace(text: string): string {
  const before = text.slice(0, faultPosition(text)).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Returns the offset where the text stops being JSON: the end of its longest prefix that could be continued to JSON. */
function faultPosition(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldBecomeJson(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function couldBecomeJson(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return (
      /^Unexpected end|^Unterminated/.test(message) ||
      (position !== undefined && Number(position) >= prefix.length)
    );
  }
}
