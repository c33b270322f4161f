import { cutText } from '../../records/text/cut-text.ts';
import { didYouMean } from '../../render/nearest-name.ts';
import { PREFIX, SCRIPT_FILE } from './script-source.ts';
import { CALL_KINDS, type ScriptCall, type ScriptEvent } from './script-step.ts';

const TEXT_MAX = 10_000;
const FRAME_MAX = 500;
const FRAMES_MAX = 100;
const AGENT_OPTIONS =
  'label phase schema model effort isolation agentType context continue budget onFailure'.split(' ');

/** A call before it has its key. */
export type AskedCall = Omit<ScriptCall, 'key'> & { readonly after: number };

type ReadEvent =
  | Exclude<ScriptEvent, { type: 'call' }>
  | AskedCall
  | { readonly type: 'done'; readonly result: string }
  | {
      readonly type: 'failed';
      readonly kind: 'threw' | 'not_json';
      readonly message: string;
      readonly stack: unknown;
    };

/** Reads what `installGlobals` put out. The script may have changed what made the text, so nothing is taken for granted; null: it cannot be read. */
export function readEvent(text: string, next_call: number, after: number): ReadEvent | null {
  const event = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  const line = typeof event?.line === 'number' ? event.line : null;
  const short = (value: unknown) => cutText(String(value), TEXT_MAX, '…');
  switch (event?.type) {
    case 'call': {
      const { number, prompt, options } = event;
      const kind = CALL_KINDS.find((one) => one === event.kind);
      if (number !== next_call || kind === undefined || typeof prompt !== 'string') return null;
      if (typeof options !== 'object' || options === null) return null;
      const name = (value: unknown) => (typeof value === 'string' ? value : null);
      return {
        type: 'call',
        number,
        kind,
        prompt,
        options: { ...options },
        phase: name(event.phase),
        label: name(event.label),
        line,
        after,
      };
    }
    case 'log':
      return { type: 'log', text: short(event.text), after };
    case 'phase':
      return { type: 'phase', title: short(event.title), after };
    case 'notice':
      return { type: 'notice', text: short(event.text), line, after };
    case 'unknown_option': {
      const name = short(event.name);
      const words = `agent(): the option "${name}" is unknown and ignored. ${didYouMean(name, AGENT_OPTIONS)}`;
      return { type: 'notice', text: words.trim(), line, after };
    }
    case 'cancel':
      return { type: 'cancel', number: Number(event.number), after };
    case 'done':
      return typeof event.result === 'string' ? { type: 'done', result: event.result } : null;
    case 'failed':
      return {
        type: 'failed',
        kind: event.kind === 'not_json' ? 'not_json' : 'threw',
        message: short(event.message),
        stack: event.stack,
      };
    default:
      return null;
  }
}

const LINE_END = /\r\n|[\r\n\u2028\u2029]/;
/** What the interpreter reads without noting the line: the error names it. */
const UNNOTED =
  /^TypeError: cannot read property '(.+)' of (?:undefined|null)$|^ReferenceError: '?([^' ]+)'? is not defined$/;
/** A value that cannot be taken apart; the error does not name it, and most often it is what the run was not given. */
const APART = /^TypeError: Cannot convert undefined or null to object$/;

const ITERATED = '\\]\\s*=(?!=)|\\.\\.\\.|\\bof\\b';

/** The line of what an error names, from the one that the interpreter noted last on: it notes those of calls only. */
export function lineOfError(message: string, noted: number | null, program: string): number | null {
  const [, property, variable] = UNNOTED.exec(message) ?? [];
  const name = property ?? variable ?? (APART.test(message) ? 'args' : undefined);
  if (name === undefined || noted === null) return noted;
  const word = `(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`;
  // Where it is read as a property, before where it is any word; what is taken apart has no name.
  const places = property === undefined ? [word] : [`(?:\\.|\\[\\s*['"\`])${word}`, word];
  const lines = program.split(LINE_END);
  for (const place of property === 'Symbol.iterator' ? [ITERATED] : places) {
    const at = lines.findIndex((text, index) => index >= noted - 1 && new RegExp(place).test(text));
    if (at >= 0) return at + 1;
  }
  return noted;
}

/** The text of a line, from 1; empty if there is none. */
export function textOfLine(program: string, line: number | null): string {
  return program.split(LINE_END)[(line ?? 0) - 1] ?? '';
}

/** Frames of the author's file, with the columns of the file. */
export function authorLines(stack: unknown): readonly string[] {
  if (typeof stack !== 'string') return [];
  return stack.split('\n', FRAMES_MAX).flatMap((frame) => {
    const [, name, line, column] =
      /^\s*at (.*?) ?\(?workflow\.js:(\d+)(?::(\d+))?\)?$/.exec(cutText(frame, FRAME_MAX)) ?? [];
    if (line === undefined) return [];
    const at = line === '1' ? Math.max(1, Number(column) - PREFIX.length + 1) : column;
    return [`${name || '<anonymous>'} (${SCRIPT_FILE}:${line}:${at})`];
  });
}
