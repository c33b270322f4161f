import { hash } from 'node:crypto';
import { cutText } from '../../records/text/cut-text.ts';
import { jsonSizeFault } from '../../records/text/json-text.ts';
import { type AskedCall, authorLines, lineOfError, readEvent, textOfLine } from './script-events.ts';
import {
  type RecordedCall,
  SAID_MAX,
  type ScriptCall,
  type ScriptEntry,
  type ScriptEvent,
  type ScriptFailure,
  type ScriptState,
} from './script-step.ts';

const CALLS_MAX = 20_000;
const TEXT_SHOWN = 500;

/** What errors are explained by. `program`: the text of the script; empty for a function. */
interface ScriptText {
  readonly program: string;
  readonly has_args: boolean;
}

/**
 * What a script has asked for, done and got, by whatever runs it, and the law of its replay: it asks for exactly the recorded calls, in the same order; the first
 * difference ends it.
 */
export class ScriptRecord {
  readonly #asked: ScriptCall[] = [];
  /** Calls without a result; those that were cleared may get one. */
  readonly #open = new Set<number>();
  readonly #cleared = new Set<number>();
  readonly #occurrences = new Map<string, number>();
  readonly #memory_mb: number | null;
  readonly #told: ScriptText;
  /** Each call that is recorded must be asked for, in the same place. */
  recorded: readonly RecordedCall[] = [];
  #events: ScriptEvent[] = [];
  #end: Exclude<ScriptState, { type: 'waiting' }> | null = null;
  #fed = 0;
  /** Characters said since the last result. */
  #said = 0;

  /** `memory_mb`: what the script may use; null if nothing bounds it. */
  constructor(memory_mb: number | null, told: ScriptText = { program: '', has_args: true }) {
    this.#memory_mb = memory_mb;
    this.#told = told;
  }

  get end(): ScriptState | null {
    return this.#end;
  }

  /** Whether the script is to be given this result. After its end, nothing changes. */
  accepts({ call }: ScriptEntry): boolean {
    if (this.#end !== null) return false;
    if (this.#cleared.delete(call) || this.#open.delete(call)) {
      this.#fed++;
      this.#said = 0;
      return true;
    }
    const known = call <= this.#asked.length ? 'has had its result' : 'the script has not made';
    this.fail('diverged', `a result was recorded for call ${call}, which ${known}`);
    return false;
  }

  /** The end of a replay: all that was recorded has been asked for. */
  closeReplay(): void {
    const missing = this.recorded[this.#asked.length];
    if (missing !== undefined && this.#end?.type !== 'failed')
      this.fail(
        'diverged',
        `call ${missing.number} is recorded as ${told(missing)}, and the script no longer makes it`,
      );
  }

  /** What happened since this was last asked. */
  takeEvents(): readonly ScriptEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  get state(): ScriptState {
    if (this.#end !== null) return this.#end;
    return this.#open.size === 0 ? { type: 'stuck' } : { type: 'waiting', pending: [...this.#open] };
  }

  threw(kind: ScriptFailure['kind'], message: string, stack: unknown): void {
    if (this.#memory_mb !== null && /\bout of memory$/.test(message))
      this.fail('limit', `it needs more than ${this.#memory_mb} MB of memory`, stack);
    else this.fail(kind, message, stack);
  }

  fail(kind: ScriptFailure['kind'], message: string, stack: unknown = null, at: number | null = null): void {
    const lines = authorLines(stack);
    const { program, has_args } = this.#told;
    const noted = at ?? (Number(/:(\d+)/.exec(lines[0] ?? '')?.[1]) || null);
    const line = kind === 'threw' ? lineOfError(message, noted, program) : noted;
    const lacks = kind === 'threw' && !has_args && /\bargs\b/.test(textOfLine(program, line));
    const hint = lacks ? ': args is undefined, because none were given' : '';
    this.#end = { type: 'failed', failure: { kind, message: message + hint, line, stack: lines } };
  }

  /** Takes what `installGlobals` put out. */
  take(text: string): void {
    const event = readEvent(text, this.#asked.length + 1, this.#fed);
    if (event === null)
      return this.fail('threw', 'it has changed built-in objects in a way that leaves its calls unreadable');
    switch (event.type) {
      case 'call': {
        const fault = jsonSizeFault(text);
        if (fault !== null)
          return this.fail('limit', `${event.kind}(): the call is too large: ${fault}`, null, event.line);
        return this.#ask(event);
      }
      case 'done':
        if (this.#open.size > 0) {
          const words = `the script has returned, and does not wait for ${this.#open.size} of its calls`;
          this.#events.push({ type: 'notice', text: words, line: null, after: this.#fed });
        }
        this.#end = event;
        return;
      case 'failed':
        return this.threw(event.kind, event.message, event.stack);
      case 'cancel':
        if (!this.#open.delete(event.number)) return;
        this.#cleared.add(event.number);
        break;
      case 'log':
        // More than is cut off again need not leave the thread.
        if (this.#said > SAID_MAX) return;
        this.#said += event.text.length + 1;
    }
    this.#events.push(event);
  }

  #ask(asked: AskedCall): void {
    const { number, kind, prompt, options, line } = asked;
    if (number > CALLS_MAX) return this.fail('limit', `it makes more than ${CALLS_MAX} calls`, null, line);
    const digest = hash('sha256', JSON.stringify([kind, prompt, options]));
    const occurrence = (this.#occurrences.get(digest) ?? 0) + 1;
    this.#occurrences.set(digest, occurrence);
    const call = { ...asked, key: `${digest}:${occurrence}` };
    const recorded = this.recorded[number - 1];
    if (recorded !== undefined && recorded.key !== call.key) {
      const why = `call ${number} is recorded as ${told(recorded)}, and the script now asks for ${told(call)}`;
      return this.fail('diverged', why, null, line);
    }
    this.#asked.push(call);
    this.#open.add(number);
    this.#events.push(call);
  }
}

/** A call in an error: its kind, its text, and the beginning of its key, by which calls with the same text differ. */
function told({ kind, prompt, key }: Pick<RecordedCall, 'kind' | 'prompt' | 'key'>): string {
  return `${kind} ${JSON.stringify(cutText(prompt, TEXT_SHOWN, '…'))} (${key.slice(0, 8)}${key.slice(key.indexOf(':'))})`;
}
