import { relative } from 'node:path';

interface Details {
  readonly type?: string;
  readonly error?: { readonly failureType?: string; readonly cause?: unknown };
}

interface RunnerEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly file?: string;
    readonly skip?: unknown;
    readonly details?: Details;
  };
}

/** Message with which the tests of this repository report a condition that never came true. */
const NEVER_CAME = /never came/;
/** A property of fast-check that does not hold: an assertion failed in it. */
const PROPERTY = /^Property failed/;

/** A reporter for Node's test runner: a `TestEvent` for each test as it ends, none for suites, which fail with their tests. */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter by its default export
export default async function* testLines(source: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const event = eventOf(type === 'test:pass', data);
    if (event !== null) yield `${JSON.stringify(event)}\n`;
  }
}

function eventOf(passed: boolean, { name, file = '', skip, details }: RunnerEvent['data']): TestEvent | null {
  const kind = details?.error?.failureType;
  // A suite fails by itself only in its hooks.
  if (details?.type === 'suite' && kind !== 'hookFailed') return null;
  if (passed) {
    // A file without tests is reported as a passed test.
    if (file.endsWith(name)) return null;
    return { name, file, outcome: skip ? 'skipped' : 'passed', failure: null, error: '' };
  }
  const [error] = messages(details?.error?.cause);
  return {
    name: named(name, file),
    file,
    outcome: 'failed',
    failure: failureOf(details),
    error: error ?? kind ?? '',
  };
}

/** Name of a test; a file that ends before its tests do is reported under its relative path. */
function named(name: string, file: string): string {
  return name === file ? relative(process.cwd(), file) : name;
}

function failureOf(details: Details | undefined): TestEvent['failure'] {
  const kind = details?.error?.failureType;
  if (kind === 'testTimeoutFailure') return 'verdict';
  if (kind !== 'testCodeFailure') return 'crash';
  const cause = details?.error?.cause;
  const found =
    isAssertion(cause) || messages(cause).some((text) => NEVER_CAME.test(text) || PROPERTY.test(text));
  return found ? 'verdict' : 'crash';
}

function isAssertion(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if ((at as NodeJS.ErrnoException).code === 'ERR_ASSERTION') return true;
  return false;
}

/** First lines of the messages of an error and its causes, outermost first. */
function messages(error: unknown): string[] {
  if (typeof error === 'string') return [error.split('\n', 1)[0] ?? ''];
  if (typeof error !== 'object' || error === null) return [];
  const { message, cause } = error as Error;
  return [String(message).split('\n', 1)[0] ?? '', ...messages(cause)];
}

/** Report on one test, as one JSON line. */
export interface TestEvent {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  readonly outcome: 'passed' | 'skipped' | 'failed';
  /**
   * Why a test failed. `verdict`: it found the program wrong (an assertion, a condition that never came, its time limit). `crash`: anything
   * else, which a mutation that does not even run would bring about too.
   */
  readonly failure: 'verdict' | 'crash' | null;
  /** First line of the error. */
  readonly error: string;
}
