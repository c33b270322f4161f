export type Background = 'dark' | 'light';

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly number[];

/** A terminal's answer to the query for its background (OSC 11): one to four hexadecimal digits for each colour. */
const REPORT =
  /^\]11;(?:rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})|#([\da-f]{2})([\da-f]{2})([\da-f]{2}))/i;

export function backgroundOfReport(report: string): Colour | null {
  const parts = REPORT.exec(report)
    ?.slice(1)
    .filter((part) => part !== undefined);
  return parts?.map((part) => (Number.parseInt(part, 16) / (16 ** part.length - 1)) * 255) ?? null;
}

/** Reads `COLORFGBG`, which some terminals set: `0;15`, `15;default;0`, numbers of the sixteen colours. Null if it tells nothing. */
export function backgroundOfEnvironment({ COLORFGBG }: NodeJS.ProcessEnv): Background | null {
  const number = /;(\d+)$/.exec(COLORFGBG ?? '')?.[1];
  if (number === undefined) return null;
  return Number(number) === 7 || Number(number) > 8 ? 'light' : 'dark';
}
