import { createRequire } from 'node:module';
import { cutText } from '../../../records/text/cut-text.ts';

/** Maximum compiled size in instructions, which bounds the matching steps per character. */
const SIZE_MAX = 500;
/** Cost of a Unicode class (`\pL`): hundreds of ranges, compiled for every occurrence. */
const CLASS_SIZE = 10;
const LENGTH_MAX = 500;

export interface Pattern {
  readonly source: string;
  readonly size: number;
  readonly test: (text: string) => boolean;
}

type Re2 = typeof import('re2js');
let re2: Re2 | undefined;

/** Loads the engine lazily: few programs use patterns. */
function engine(): Re2 {
  re2 ??= createRequire(import.meta.url)('re2js') as Re2;
  return re2;
}

/** Compiles a model's pattern, matched in linear time (RE2 syntax). Throws an `Error` for an unsupported pattern. */
export function compilePattern(source: string): Pattern {
  if (source.length > LENGTH_MAX) throw new Error(`a pattern has at most ${LENGTH_MAX} characters`);
  // Checked before compiling: counted repetitions are expanded, and nested ones multiply.
  if (estimate(source) > SIZE_MAX)
    throw new Error(
      `the pattern ${quotedPattern(source)} repeats too much: its counts come to more than ${SIZE_MAX}`,
    );
  const { RE2JS } = engine();
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(withCodePoints(source));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the pattern ${quotedPattern(source)} cannot be used (no look-around, no back references): ${reason}`,
    );
  }
  return { source, size: Math.max(1, estimate(source)), test: (text) => compiled.test(text) };
}

function quotedPattern(source: string): string {
  return JSON.stringify(cutText(source, 60, '…'));
}

/** Translates `\u00e9` and `\u{e9}` of JSON Schema to RE2 syntax. */
function withCodePoints(source: string): string {
  return source.replaceAll(/\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|(.))/gs, (whole, braced, four) =>
    braced === undefined && four === undefined ? whole : `\\x{${braced ?? four}}`,
  );
}

/** Estimated instructions: one per atom, times the repetition counts of the atom and its enclosing groups. */
function estimate(source: string): number {
  const groups: number[] = [];
  let sum = 0;
  let last = 0;
  const atom = (size: number) => {
    sum += size;
    last = size;
  };
  const tokens = source.matchAll(/\\[pPx]\{[^}]*\}|\\[pP]?.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs);
  for (const [token, least, most] of tokens) {
    if (token === '(') {
      groups.push(sum);
      sum = 0;
    } else if (token === ')') {
      const inner = sum;
      sum = groups.pop() ?? 0;
      atom(inner + 2);
    } else if (least !== undefined) {
      const times = Math.max(1, Number(most || least) + (most === '' ? 1 : 0));
      sum += last * (times - 1);
      last *= times;
    } else if (token === '*' || token === '+' || token === '?' || token === '|') sum += 1;
    else atom(1 + CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0));
  }
  return groups.reduce((all, one) => all + one, sum);
}
