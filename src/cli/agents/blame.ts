import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { blameDocument } from '../../documents/blame-json.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, pad, paint, type Style } from '../../render/style.ts';
import { type Context, withStore } from '../setup/context.ts';
import { detailLines, printResult } from '../setup/output.ts';

type Blame = DocumentOf<'coppice/blame/v1'>;

const BYTES_MAX = 2 * 1024 * 1024;
const SOURCES = { before: 'there before', outside: 'no agent' };

/** `coppice blame FILE[:LINE]` */
export function blame(context: Context, text: string): Promise<number> {
  return blameOf(context, text).then((found) =>
    printResult(context, found, () =>
      (placeOf(context, text).line === undefined ? fileLines : lineDetails)(found, context.out, context.hint),
    ),
  );
}

/** Who wrote the lines of `FILE`, or the line of `FILE:LINE`. */
export function blameOf(context: Context, text: string): Promise<Blame> {
  const { file, line } = placeOf(context, text);
  const present = presentText(file);
  return withStore(context, async (store) => {
    const found = await blameDocument(store, file, present, line);
    if (line !== undefined && found.lines.length === 0)
      throw new CoppiceError('E_USAGE', `${text}: the file has no line ${line}`);
    return found;
  });
}

/** Splits `FILE:LINE`. An existing file whose name ends like `:12` takes precedence over a line of another file. */
function placeOf({ options }: Context, text: string): { readonly file: string; readonly line?: number } {
  const [whole, name, line] = /^(.+):([1-9]\d{0,8})$/.exec(text) ?? [];
  const path = (one: string) => resolve(options.cwd ?? process.cwd(), one);
  if (name === undefined || statSync(path(text), { throwIfNoEntry: false })?.isFile() === true)
    return { file: realPathOfFile(path(text), text) };
  return { file: realPathOfFile(path(name), whole ?? text), line: Number(line) };
}

function realPathOfFile(path: string, shown: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    throw new CoppiceError('E_USAGE', `${shown}: there is no such file`, {
      hint: 'Name a file relative to this folder, or to --cwd',
      cause: error,
    });
  }
}

function presentText(file: string): string {
  const status = statSync(file);
  const fault = !status.isFile()
    ? 'not a file'
    : status.size > BYTES_MAX
      ? `${status.size} bytes; the maximum is ${BYTES_MAX}`
      : null;
  if (fault !== null) throw new CoppiceError('E_USAGE', `${file}: ${fault}`);
  return readFileSync(file, 'utf8');
}

function ageOf(at: string): string {
  return `${duration(Date.now() - Date.parse(at))} ago`;
}

function fileLines({ lines, changes, whole }: Blame, style: Style): string[] {
  const cells = lines.map(({ source, change }) => {
    const by = change === null ? undefined : changes[change];
    if (by === undefined) return source === 'agent' ? '' : SOURCES[source];
    return `${clean(by.agent)} ${by.agent_id.slice(0, 8)} #${by.seq} ${ageOf(by.at)}`;
  });
  const width = Math.max(0, ...cells.map(columnsOf));
  const digits = String(lines.length).length;
  const rows = lines.map(
    ({ line, text }, at) =>
      `${paint(style, 'dim', pad(cells[at] ?? '', width))}  ${String(line).padStart(digits)}  ${clean(text)}`,
  );
  return whole ? rows : [...rows, 'some changes could not be followed: their lines count as by no agent'];
}

/** Why a line is by no agent. */
export function outOfAgents(source: Blame['lines'][number]['source'] | undefined): string {
  return source === 'before'
    ? 'It was there before the first change that the ledger knows of, or a command wrote it: only calls of write and patch are recorded.'
    : 'It was written by no call of write or patch: by a command, a person or another program.';
}

function lineDetails({ lines, changes, path }: Blame, style: Style, hint: Context['hint']): string[] {
  const [one] = lines;
  const by = changes[0];
  if (one === undefined) return [];
  const place = `${clean(path)}:${one.line}  ${clean(one.text)}`;
  if (by === undefined) return [place, outOfAgents(one.source)];
  return [
    place,
    ...detailLines(
      [
        ['agent', `${clean(by.agent)} (${by.agent_id})`],
        ['told to', clean(by.prompt ?? '')],
        ['written', `${ageOf(by.at)}, message ${by.seq}, call ${clean(by.call_id)} of ${by.tool}`],
        ['more', hint(`coppice logs ${by.agent_id}`)],
      ],
      style,
    ),
  ];
}
