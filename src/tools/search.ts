import { closeSync, fstatSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import * as z from 'zod';
import {
  type ContainedPath,
  likePath,
  openContained,
  openFolderPath,
} from '../permissions/path-containment.ts';
import { containAllowedPath, isForeignOutput } from '../permissions/path-guard.ts';
import { printablePath } from '../permissions/printable-path.ts';
import { childEnvironment } from '../processes/child-environment.ts';
import { type ProcessEnd, type ProcessPlace, runProcess } from '../processes/starting/run-process.ts';
import { meantPath } from '../processes/working-folder.ts';
import { keptIn } from '../records/kept-in.ts';
import { cutText } from '../records/text/cut-text.ts';
import type { Tool, ToolContext, ToolResult } from '../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from './built-in-permissions.ts';
import { defineOwnTool, RESULT_CHARACTERS } from './define-tool.ts';

const RESULTS = 200;
const RESULTS_MAX = 2_000;
const SECONDS_MAX = 60;

/** Text that can be passed as an argument of a program. */
const argument = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not contain NUL characters');

const input = z.strictObject({
  pattern: argument.describe('Regular expression, without look-around and back-references.'),
  path: z
    .string()
    .min(1)
    .overwrite(meantPath)
    .optional()
    .describe('File or folder, by default all of your folder.'),
  glob: argument.optional().describe('Only such files: "*.ts", "!*.test.ts".'),
  ignore_case: z.boolean().optional(),
  max_results: z.int().min(1).max(RESULTS_MAX).optional().describe(`${RESULTS} by default.`),
});

type Input = z.infer<typeof input>;

/** Loaded on first use: on platforms without the binary only this tool fails. */
async function ripgrep(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    throw new Error(`search has no ripgrep for ${process.platform}-${process.arch}: use bash with grep`);
  }
}

function argumentsFor(request: Input, is_file: boolean): string[] {
  const args = ['--json', '--no-config', '--no-require-git', '--sort=path', '--regex-size-limit=20M'];
  if (request.ignore_case === true) args.push('--ignore-case');
  if (request.glob !== undefined) args.push(`--glob=${request.glob}`);
  args.push('--crlf', `--regexp=${request.pattern}`, '--', is_file ? '-' : './');
  return args;
}

/** Searches through an open handle, so that what was checked is what is searched. */
function openPlace(place: ContainedPath): ProcessPlace {
  const descriptor = openContained(place);
  const close = (): void => closeSync(descriptor);
  if (fstatSync(descriptor).isFile()) return { cwd: dirname(place.absolute), stdin: descriptor, close };
  return { cwd: openFolderPath(descriptor, place.absolute), close };
}

function failure(errors: string): string {
  // ripgrep's advice is about options that this tool does not offer.
  const text = errors.split('\n\nConsider', 1)[0]!.replace(/^rg: /, '').trim();
  const about = /regex|pattern|look-around|backreference/i.test(text)
    ? 'field "pattern"'
    : /glob/i.test(text)
      ? 'field "glob"'
      : 'search';
  return `${about}: ${text === '' ? 'ripgrep failed without a message' : text}`;
}

function searchResult(
  end: ProcessEnd,
  results: SearchResults,
  errors: string,
  { signal, left_out = [] }: ToolContext,
): ToolResult {
  if (end.end === 'not_started')
    return { status: 'error', output: `ripgrep could not be started: ${end.error.message}` };
  if (signal.aborted) return { status: 'cancelled', output: results.text([]) };
  const notes: string[] = [];
  if (end.end === 'timed_out') notes.push(`[stopped after ${SECONDS_MAX} s: search a smaller folder]`);
  if (end.end === 'exited' && end.signal !== null) notes.push(`[ripgrep was killed by ${end.signal}]`);
  if (end.end === 'exited' && end.code === 2) {
    if (results.count === 0) return { status: 'error', output: failure(errors) };
    notes.push(`[some files could not be searched: ${errors.trim().split('\n', 1)[0]}]`);
  }
  return { status: 'ok', output: `${results.text(notes)}${leftOut(left_out)}` };
}

/** Listed whether or not anything in them matches: a pattern must not reveal their content. */
function leftOut(rules: readonly string[]): string {
  return rules.length === 0 ? '' : `\n[not searched: what is under ${rules.join(', ')}]`;
}

async function searchIn(
  place: ContainedPath,
  request: Input,
  context: ToolContext,
  results: SearchResults,
): Promise<ToolResult> {
  const status = statSync(place.absolute);
  if (!status.isFile() && !status.isDirectory())
    throw new Error(`${printablePath(place.relative)}: neither a file nor a folder`);
  const enough = new AbortController();
  results.onFull = () => enough.abort();
  let errors = '';
  const end = await runProcess({
    file: await ripgrep(),
    args: argumentsFor(request, status.isFile()),
    place: () => openPlace(place),
    env: childEnvironment([]),
    signal: AbortSignal.any([context.signal, enough.signal]),
    tree: context.agent.root_id,
    timeout_ms: SECONDS_MAX * 1000,
    onOutput: (chunk) => results.push(chunk),
    onErrorOutput: (chunk) => {
      if (errors.length < 2000) errors = (errors + chunk.toString('utf8')).slice(0, 2000);
    },
  });
  return searchResult(end, results, errors, context);
}

/** Maximum characters shown of a line. */
const LINE_CHARACTERS = 400;

/** ripgrep's JSON encoding of a text: base64 if it is not UTF-8. */
type Encoded = { readonly text: string } | { readonly bytes: string };

interface MatchRecord {
  readonly type: string;
  readonly data: { readonly path: Encoded; readonly lines: Encoded; readonly line_number: number | null };
}

/** Maximum size of a record, which holds one line of a file; longer ones are only counted. */
const record_bytes = 1024 * 1024;
const new_line = 0x0a;

function decode(encoded: Encoded): string {
  return 'text' in encoded ? encoded.text : Buffer.from(encoded.bytes, 'base64').toString('utf8');
}

/**
 * Parses ripgrep's JSON lines as they arrive and keeps a bounded list of `path:line: text`. JSON, because file names
 * may contain line breaks and colons.
 */
class SearchResults {
  /** Called once, when the list is full. */
  onFull: () => void = () => {};
  readonly #place: ContainedPath;
  readonly #most: number;
  readonly #isHidden: (relative_path: string) => boolean;
  readonly #lines: string[] = [];
  readonly #hidden = new Map<string, boolean>();
  #characters = 0;
  #full = false;
  #too_long = 0;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(place: ContainedPath, most: number, isHidden: (relative_path: string) => boolean) {
    this.#place = place;
    this.#most = most;
    this.#isHidden = isHidden;
  }

  get count(): number {
    return this.#lines.length;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#full; ) {
      const end = chunk.indexOf(new_line, at);
      const part = chunk.subarray(at, end === -1 ? undefined : end);
      this.#length += part.length;
      if (this.#length <= record_bytes) this.#parts.push(part);
      else this.#parts = [];
      if (end === -1) return;
      this.#endRecord();
      at = end + 1;
    }
  }

  #endRecord(): void {
    if (this.#length > record_bytes) this.#too_long += 1;
    else this.#take(JSON.parse(Buffer.concat(this.#parts).toString('utf8')) as MatchRecord);
    this.#parts = [];
    this.#length = 0;
  }

  #take(record: MatchRecord): void {
    if (record.type !== 'match') return;
    const found = decode(record.data.path);
    const path = found === '<stdin>' ? this.#place.relative : posix.join(this.#place.relative, found);
    if (this.#isHiddenPath(path)) return;
    let text = decode(record.data.lines)
      .replace(/\r?\n$/, '')
      .replaceAll('\0', '\ufffd');
    if (text.length > LINE_CHARACTERS) {
      text = `${cutText(text, LINE_CHARACTERS)} [… line cut]`.toWellFormed();
    }
    // With a pattern that matches line breaks, one match has several lines.
    const line = `${printablePath(path)}:${record.data.line_number}: ${text.replaceAll(/\r?\n/g, '\n    ')}`;
    if (this.#lines.length === this.#most || this.#characters + line.length > RESULT_CHARACTERS - 1000) {
      this.#full = true;
      this.onFull();
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length + 1;
  }

  #isHiddenPath(path: string): boolean {
    return keptIn(this.#hidden, path, this.#isHidden);
  }

  text(notes: readonly string[]): string {
    const all = [...this.#lines];
    if (this.#full)
      all.push(`[more than ${this.#lines.length} lines match: narrow the pattern, path or glob]`);
    if (this.#too_long > 0) all.push(`[${this.#too_long} matching lines are too long to show]`);
    all.push(...notes);
    return all.length === 0 ? '[nothing found]' : all.join('\n');
  }
}

/** Searches file contents with ripgrep, except hidden files, binary files and those in `.gitignore`. */
export const searchTool: Tool<Input> = defineOwnTool({
  name: 'search',
  permission: BUILT_IN_PERMISSIONS.search,
  description:
    'Search the text of files. Returns path:line: text. Leaves out hidden, binary and git-ignored files, unless path names such a folder.',
  input,
  side_by_side: true,
  idempotent: true,
  subject: ({ pattern, path }) => `${pattern}${path === undefined ? '' : ` in ${path}`}`,
  run(request, context) {
    const place = containAllowedPath('search', request.path ?? '.', context);
    if (!place.exists) {
      const { root, relative } = place;
      throw new Error(`${printablePath(relative)}: no such file or folder${likePath(root, relative)}`);
    }
    const isHidden = (path: string): boolean =>
      context.denied?.('search', path) !== undefined || isForeignOutput(join(place.root, path), context);
    return searchIn(
      place,
      request,
      context,
      new SearchResults(place, request.max_results ?? RESULTS, isHidden),
    );
  },
});
