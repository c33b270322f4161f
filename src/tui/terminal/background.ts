export type Background = 'dark' | 'light';

/** A terminal's answer to the query for its background (OSC 11): one to four hexadecimal digits for each colour. */
const REPORT =
  /^\]11;(?:rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})|#([\da-f]{2})([\da-f]{2})([\da-f]{2}))/i;

export function backgroundOfReport(report: string): Background | null {
  const parts = REPORT.exec(report)
    ?.slice(1)
    .filter((part) => part !== undefined);
  if (parts === undefined) return null;
  const [red = 0, green = 0, blue = 0] = parts.map(
    (part) => Number.parseInt(part, 16) / (16 ** part.length - 1),
  );
  // Perceived brightness: at the threshold, half way between black and white, dark and light text are both readable.
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark';
}

/** Reads `COLORFGBG`, which some terminals set: `0;15`, `15;default;0`, numbers of the sixteen colours. Null if it tells nothing. */
export function backgroundOfEnvironment({ COLORFGBG }: NodeJS.ProcessEnv): Background | null {
  const number = /;(\d+)$/.exec(COLORFGBG ?? '')?.[1];
  if (number === undefined) return null;
  return Number(number) === 7 || Number(number) > 8 ? 'light' : 'dark';
}
