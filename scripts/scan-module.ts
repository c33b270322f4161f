import { SyntaxKind } from 'typescript/unstable/ast';
import { computeLineStarts, createScanner } from 'typescript/unstable/ast/scanner';

/** One reference of a module to another, type imports included. */
export interface ModuleReference {
  readonly line: number;
  /** `null` when a dynamic import or a `createRequire` computes its name and so cannot be checked. */
  readonly specifier: string | null;
}

export interface ScannedModule {
  readonly references: readonly ModuleReference[];
  /** Lines of `export *`, also as a namespace. */
  readonly star_exports: readonly number[];
  readonly default_exports: readonly number[];
  /** Each name that is no property (`state.process`) and no key (`process: 1`), with the tokens that follow: `Date . now (`, `await read ( )`. */
  readonly phrases: readonly { readonly line: number; readonly text: string }[];
}

interface Token {
  readonly kind: SyntaxKind;
  readonly text: string;
  readonly value: string;
  readonly line: number;
}

interface Quoted extends Token {
  readonly kind: SyntaxKind.StringLiteral | SyntaxKind.NoSubstitutionTemplateLiteral;
}

/** Finds imports and exports of a file with TypeScript's own scanner, which handles comments, strings, templates and regular expressions. */
export function scanModule(text: string): ScannedModule {
  const tokens = tokensOf(text);
  const references: ModuleReference[] = [];
  const star_exports: number[] = [];
  const default_exports: number[] = [];
  const phrases: { line: number; text: string }[] = [];
  tokens.forEach((token, at) => {
    const before = tokens[at - 1]?.kind;
    const next = tokens[at + 1];
    if (before === SyntaxKind.DotToken || before === SyntaxKind.QuestionDotToken) return;
    if (token.kind === SyntaxKind.ImportKeyword) {
      const found = importAt(tokens, at);
      if (found !== undefined) references.push(found);
    } else if (token.kind === SyntaxKind.ExportKeyword) {
      const isType = next?.kind === SyntaxKind.TypeKeyword;
      const what = tokens[at + (isType ? 2 : 1)];
      if (what?.kind === SyntaxKind.AsteriskToken) star_exports.push(token.line);
      if (what?.kind === SyntaxKind.DefaultKeyword || exportsDefault(tokens, at)) {
        default_exports.push(token.line);
      }
      if (what?.kind === SyntaxKind.AsteriskToken || what?.kind === SyntaxKind.OpenBraceToken) {
        const found = clauseFrom(tokens, at);
        if (found !== undefined) references.push(found);
      }
    } else if (isName(token) && next?.kind !== SyntaxKind.ColonToken) {
      const found = requireAt(tokens, at);
      if (found !== undefined) references.push(found);
      const words = tokens.slice(at, at + PHRASE_TOKENS).map((one) => one.text);
      phrases.push({ line: token.line, text: words.join(' ') });
    }
  });
  return { references, star_exports, default_exports, phrases };
}

const PHRASE_TOKENS = 4;
const OWN_REQUIRE = ['(', 'import', '.', 'meta', '.', 'url', ')', '('];

function isName(token: Token): boolean {
  return token.kind === SyntaxKind.Identifier || /^[a-z]+$/.test(token.text);
}

function isString(token: Token | undefined): token is Quoted {
  return token?.kind === SyntaxKind.StringLiteral || token?.kind === SyntaxKind.NoSubstitutionTemplateLiteral;
}

/** `import 'x'`, `import … from 'x'`, `import('x')` as a value or a type; undefined for `import.meta` or a method of that name. */
function importAt(tokens: readonly Token[], at: number): ModuleReference | undefined {
  const next = tokens[at + 1];
  if (next === undefined || next.kind === SyntaxKind.DotToken) return undefined;
  if (isString(next)) return { line: next.line, specifier: next.value };
  if (next.kind !== SyntaxKind.OpenParenToken) return clauseFrom(tokens, at);
  const name = tokens[at + 2];
  return {
    line: next.line,
    specifier: isString(name) && endsArgument(tokens[at + 3]) ? name.value : null,
  };
}

/** `createRequire(import.meta.url)('x')`; undefined where `createRequire` is not called. */
function requireAt(tokens: readonly Token[], at: number): ModuleReference | undefined {
  const [token, next] = tokens.slice(at);
  if (token?.text !== 'createRequire' || next?.text !== '(') return undefined;
  const call = tokens.slice(at + 1, at + 1 + OWN_REQUIRE.length).map((one) => one.text);
  const name = tokens[at + 1 + OWN_REQUIRE.length];
  const isOwn = call.join(' ') === OWN_REQUIRE.join(' ');
  return { line: token.line, specifier: isOwn && isString(name) ? name.value : null };
}

function endsArgument(token: Token | undefined): boolean {
  return token?.kind === SyntaxKind.CloseParenToken || token?.kind === SyntaxKind.CommaToken;
}

/** Name after the `from` that ends an import or export clause; undefined if the clause has none (`export { a };`). */
function clauseFrom(tokens: readonly Token[], at: number): ModuleReference | undefined {
  for (let index = at + 1; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    const name = tokens[index + 1];
    if (token.kind === SyntaxKind.FromKeyword && isString(name)) {
      return { line: name.line, specifier: name.value };
    }
    if (!inClause(token)) return undefined;
  }
  return undefined;
}

function inClause(token: Token): boolean {
  return (
    [
      SyntaxKind.OpenBraceToken,
      SyntaxKind.CloseBraceToken,
      SyntaxKind.CommaToken,
      SyntaxKind.AsteriskToken,
    ].includes(token.kind) ||
    isString(token) ||
    /^[\w$]+$/.test(token.text)
  );
}

/** `export { a as default }`. */
function exportsDefault(tokens: readonly Token[], at: number): boolean {
  for (let index = at + 1; index < tokens.length && inClause(tokens[index] as Token); index += 1) {
    if (tokens[index]?.kind === SyntaxKind.CloseBraceToken) return false;
    const renamed = tokens[index]?.kind === SyntaxKind.AsKeyword;
    if (renamed && tokens[index + 1]?.kind === SyntaxKind.DefaultKeyword) return true;
  }
  return false;
}

function tokensOf(text: string): Token[] {
  const starts = computeLineStarts(text);
  const scanner = createScanner(true, undefined, text);
  const tokens: Token[] = [];
  /** One entry per open brace: whether it closes back into a template. */
  const braces: boolean[] = [];
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    if (kind === SyntaxKind.TemplateHead) braces.push(true);
    if (kind === SyntaxKind.OpenBraceToken) braces.push(false);
    if (kind === SyntaxKind.CloseBraceToken && braces.pop() === true) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === SyntaxKind.TemplateMiddle) braces.push(true);
    }
    const divides = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken;
    if (divides && !endsValue(tokens.at(-1))) kind = scanner.reScanSlashToken();
    tokens.push({
      kind,
      text: scanner.getTokenText(),
      value: scanner.getTokenValue(),
      line: lineOf(starts, scanner.getTokenStart()),
    });
  }
  return tokens;
}

/** Whether a slash after this token is a division; otherwise it begins a regular expression. */
function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (/^(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|instanceof)$/.test(token.text))
    return false;
  return /[\w$)\]}'"`]$/.test(token.text);
}

function lineOf(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= position) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
