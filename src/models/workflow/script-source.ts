import { type Expression, type Node, Parser, type Property, type SpreadElement, tokTypes } from 'acorn';
import { CoppiceError } from '../../records/coppice-error.ts';
import { SOURCE_MAX } from './script-places.ts';

/** `meta` is read without a thread of its own, so it is bounded. */
const META_MAX = 64_000;
/** Stands before the author's first line, so that numbers of lines stay the author's. */
export const PREFIX = '(async () => {';
const LINE_ENDS = /\r\n|[\r\n\u2028\u2029]/g;
/** Name of the script in stacks. */
export const SCRIPT_FILE = 'workflow.js';

export interface ScriptMeta {
  readonly name: string;
  readonly description: string;
  readonly when_to_use: string | null;
  readonly phases: readonly {
    readonly title: string;
    readonly detail: string | null;
    readonly model: string | null;
  }[];
}

/** Reads the `meta` of a script, and nothing after it. Throws `E_SCRIPT` with the line if there is none or it is no literal. */
export function readMeta(source: string): ScriptMeta {
  return metaOf(source, metaStart(source).at);
}

/** What stands after `meta`. */
export function bodyOf(source: string): string {
  return source.slice(metaExpression(source, metaStart(source).at).end);
}

/**
 * The script as one expression, an async function. Throws `E_SCRIPT` with the line of what cannot run. It takes time proportional to the source, so it is called
 * in the thread of the script.
 */
export function compileScript(source: string): { readonly meta: ScriptMeta; readonly program: string } {
  const { export_at, at } = metaStart(source);
  const meta = metaOf(source, at);
  const before = source.slice(0, export_at).replace(/^#!/, '//');
  const body = `${before}      ${source.slice(export_at + 'export'.length)}`;
  reading(source, () => {
    ScriptParser.parse(body, {
      ecmaVersion: 'latest',
      // As in other programs: what is only forbidden in strict code is allowed.
      sourceType: 'script',
      allowAwaitOutsideFunction: true,
      allowReturnOutsideFunction: true,
    });
  });
  return { meta, program: `${PREFIX}${body}\n})` };
}

const LOOP = /^(?:For|ForIn|ForOf|While|DoWhile)Statement$/;
const FUNCTION = /^(?:ArrowFunction|Function)/;
/** The interpreter has the position of these for that of their function. */
const METHOD = /^(?:Property|MethodDefinition)$/;

/**
 * The line of the loop that runs in a frame of a stack; null if there is none. The interpreter notes the positions of calls, and before the first one the line or the
 * position of the function: so it is the innermost loop there, or else the function's next one.
 */
export function lineOfLoop(program: string, frame: string): number | null {
  const [, line = 0, column = 0] = /:(\d+):(\d+)\)$/.exec(frame)?.map(Number) ?? [];
  if (line === 0) return null;
  const ends = [...program.matchAll(LINE_ENDS)];
  const [before, after] = [ends[line - 2], ends[line - 1]];
  const at = before === undefined ? PREFIX.length + column - 1 : before.index + before[0].length + column - 1;
  const holds = ({ start, end }: Pick<Node, 'start' | 'end'>) => start <= at && at < end;
  const functions: { readonly start: number; readonly end: number; readonly loops: Node[] }[] = [];
  const walk = (node: Node, start: number, loops: Node[]): void => {
    if (LOOP.test(node.type)) loops.push(node);
    const own = FUNCTION.test(node.type) ? { start, end: node.end, loops: [] } : null;
    if (own !== null) functions.push(own);
    for (const value of Object.values(node).flat())
      if (typeof value?.type === 'string')
        walk(value, METHOD.test(node.type) ? node.start : value.start, own?.loops ?? loops);
  };
  walk(Parser.parse(program, { ecmaVersion: 'latest', sourceType: 'script' }), 0, []);
  const begins = functions.findLast(
    ({ start }) => column === 1 && start >= at && start < (after?.index ?? program.length),
  );
  for (const { loops } of [begins, functions.findLast(holds)].filter((one) => one !== undefined)) {
    const loop = loops.findLast(holds) ?? loops.find(({ start }) => start >= at);
    if (loop !== undefined) return lineAt(program, loop.start);
  }
  return line;
}

/** Where `export` stands, and where the literal of `meta` begins. */
function metaStart(source: string): { readonly export_at: number; readonly at: number } {
  if (source.length > SOURCE_MAX) {
    const size = source.length.toLocaleString('en-US');
    throw scriptError(
      null,
      `it has ${size} characters, and a workflow script has at most ${SOURCE_MAX.toLocaleString('en-US')}`,
    );
  }
  return reading(source, () => {
    const tokens = Parser.tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module' });
    const words = [tokens.getToken(), tokens.getToken(), tokens.getToken(), tokens.getToken()];
    const [first] = words;
    const text = words.map(({ start, end }) => source.slice(start, end)).join(' ');
    if (first?.type !== tokTypes._export || text !== 'export const meta =')
      throw scriptError(
        lineAt(source, first?.start ?? 0),
        'its first statement must be: export const meta = { name, description }',
      );
    return { export_at: first.start, at: words[3]?.end ?? 0 };
  });
}

function metaOf(source: string, at: number): ScriptMeta {
  const value = literal(source, metaExpression(source, at));
  const line = lineAt(source, at);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw scriptError(line, 'meta must be an object');
  const fields = value as Readonly<Record<string, unknown>>;
  const phases = fields.phases ?? [];
  if (!Array.isArray(phases)) throw scriptError(line, 'meta.phases must be a list');
  return {
    name: requiredText(fields.name, 'meta.name', line),
    description: requiredText(fields.description, 'meta.description', line),
    when_to_use: textOrNull(fields.whenToUse),
    phases: phases.map((phase, index) => {
      const of = typeof phase === 'string' ? { title: phase } : phase;
      return {
        title: requiredText(of?.title, `meta.phases[${index}].title`, line),
        detail: textOrNull(of?.detail),
        model: textOrNull(of?.model),
      };
    }),
  };
}

function metaExpression(source: string, at: number): Expression {
  // Blanks in the place of what comes before keep the positions.
  const head = source.slice(0, at).replace(/[^\r\n\u2028\u2029]/g, ' ') + source.slice(at, at + META_MAX);
  return reading(source, () =>
    Parser.parseExpressionAt(head, at, { ecmaVersion: 'latest', sourceType: 'module' }),
  );
}

function requiredText(value: unknown, name: string, line: number): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw scriptError(line, `${name} must be a text`);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The JSON value that an expression spells out. */
function literal(source: string, node: Expression | SpreadElement | null): unknown {
  switch (node?.type) {
    case 'Literal':
      if (node.regex === undefined && node.bigint === undefined) return node.value;
      break;
    case 'TemplateLiteral':
      if (node.expressions.length === 0) return node.quasis[0]?.value.cooked;
      break;
    case 'UnaryExpression':
      if (
        node.operator === '-' &&
        node.argument.type === 'Literal' &&
        typeof node.argument.value === 'number'
      )
        return -node.argument.value;
      break;
    case 'ArrayExpression':
      return node.elements.map((one) => literal(source, one));
    case 'ObjectExpression':
      return Object.fromEntries(node.properties.map((one) => property(source, one)));
  }
  const what = node === null ? 'a hole' : node.type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  throw scriptError(
    node === null ? null : lineAt(source, node.start),
    `meta must be a pure literal, and this is ${what}`,
  );
}

function property(source: string, node: Property | SpreadElement): readonly [string, unknown] {
  const line = lineAt(source, node.start);
  if (node.type === 'SpreadElement' || node.computed || node.kind !== 'init' || node.method || node.shorthand)
    throw scriptError(
      line,
      'meta must be a pure literal: names and values, without spreads, computed names, shorthands or functions',
    );
  const name =
    node.key.type === 'Identifier' ? node.key.name : String(literal(source, node.key as Expression));
  if (name === '__proto__') throw scriptError(line, 'meta cannot have a field __proto__');
  return [name, literal(source, node.value)];
}

/** The parser, with what workflow scripts lack said in words. */
class ScriptParser extends Parser {
  // The parser's types leave out its methods and where it is.
  parseExprImport(): never {
    throw scriptError(lineAt(this.input, (this as unknown as { readonly start: number }).start), NO_IMPORT);
  }
}
const NO_IMPORT =
  'a workflow script has no import: what needs files, commands or the network is the task of an agent()';

/** Reports what the parser finds as `E_SCRIPT`. */
function reading<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    const { message, pos, loc } = error as SyntaxError & {
      readonly pos?: number;
      readonly loc?: { readonly line: number; readonly column: number };
    };
    if (pos === undefined || loc === undefined) throw error;
    const line = lineAt(source, pos);
    if (/'import' and 'export'/.test(message))
      throw scriptError(
        line,
        source.startsWith('import', pos)
          ? NO_IMPORT
          : 'only meta is exported; the result is what the script returns',
      );
    throw scriptError(line, `${message.replace(/ \(\d+:\d+\)$/, '')} (column ${loc.column + 1})`);
  }
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split(LINE_ENDS).length;
}

function scriptError(line: number | null, why: string): CoppiceError {
  return new CoppiceError(
    'E_SCRIPT',
    `${line === null ? 'the workflow script' : `line ${line} of the workflow script`}: ${why}`,
  );
}
