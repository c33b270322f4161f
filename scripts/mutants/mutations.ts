import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionDeclaration,
  isIfStatement,
  isLiteralTypeNode,
  isNoSubstitutionTemplateLiteral,
  isParenthesizedExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isSpreadAssignment,
  isSpreadElement,
  isStringLiteral,
  isTypeNode,
  isVariableDeclaration,
  isWhileStatement,
} from 'typescript/unstable/ast/is';
import type { Mutant } from './mutant.ts';

type Change = readonly [node: { readonly pos: number; readonly end: number }, after: string];

const OPERATORS: Readonly<Partial<Record<SyntaxKind, string>>> = {
  [SyntaxKind.LessThanToken]: '<=',
  [SyntaxKind.LessThanEqualsToken]: '<',
  [SyntaxKind.GreaterThanToken]: '>=',
  [SyntaxKind.GreaterThanEqualsToken]: '>',
  [SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [SyntaxKind.AmpersandAmpersandToken]: '||',
  [SyntaxKind.BarBarToken]: '&&',
  [SyntaxKind.PlusToken]: '-',
  [SyntaxKind.MinusToken]: '+',
  [SyntaxKind.PlusEqualsToken]: '-=',
  [SyntaxKind.MinusEqualsToken]: '+=',
};
const EQUALITY = new Set([SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken]);
/** Methods that are replaced by another one. */
const METHODS: Readonly<Record<string, string>> = { min: 'max', max: 'min', some: 'every', every: 'some' };
/** Methods that only drop or reorder elements. */
const REFINING = new Set(['filter', 'reverse', 'sort', 'toReversed', 'toSorted']);
/** Statements that are not mutated, because no decision depends on them: messages, `unref`, and reading ahead. */
const UNMISSED = /^(?:super|console)\b|^[\w.]+\.(?:unref\(\)|want\()/;
/** Functions that only choose what to read ahead; anything else is read on demand. */
const READS_AHEAD = new Set(['factKeysOf', 'fireFactKeys']);
/** A string that a program compares, not prose. */
const WORD = /^[a-z][a-z_-]*$/;
const SQL = /\b(?:SELECT|UPDATE|DELETE|WHERE|RETURNING)\b/;
const SQL_WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<= )<(?= )/g, '<='],
  [/(?<= )<=(?= )/g, '<'],
  [/(?<= )>(?= )/g, '>='],
  [/(?<= )>=(?= )/g, '>'],
  [/(?<= )<>(?= )/g, '='],
  [/\bAND (?!\()/g, 'OR '],
  [/\bOR (?!REPLACE|ABORT|IGNORE)/g, 'AND '],
  [/\bIS NULL/g, 'IS NOT NULL'],
  [/\bIS NOT NULL/g, 'IS NULL'],
  [/\bDESC\b/g, ''],
  [/\bFOR UPDATE/g, ''],
  [/\bNOT EXISTS/g, 'EXISTS'],
];

/** Every small change of a file, one at a time, found in its syntax tree. */
export function mutants(file: string, tree: SourceFile): Mutant[] {
  const found: Mutant[] = [];
  const visit = (node: Node): void => {
    if (node.kind === SyntaxKind.ImportDeclaration || isTypeNode(node)) return;
    if (isReadAhead(node)) return;
    for (const [{ pos, end }, after] of changes(node)) add(pos, end, after);
    for (const [start, end, after] of sqlChanges(node)) add(start, end, after);
    node.forEachChild(visit);
  };
  const add = (pos: number, end: number, after: string): void => {
    const start = pos + (/^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/.exec(tree.text.slice(pos, end))?.[0].length ?? 0);
    const line = tree.text.slice(0, start).split('\n').length;
    found.push({ file, line, start, end, before: tree.text.slice(start, end), after });
  };
  visit(tree);
  return found;
}

function isReadAhead(node: Node): boolean {
  if (isFunctionDeclaration(node)) return READS_AHEAD.has(node.name?.text ?? '');
  if (isVariableDeclaration(node)) return textOf(node.name) === 'wanted';
  // The source file itself has no parent.
  const parent: Node | undefined = node.parent;
  return (
    parent !== undefined &&
    isCallExpression(parent) &&
    parent.arguments[0] === node &&
    isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === 'transact'
  );
}

function changes(node: Node): readonly Change[] {
  if (isBinaryExpression(node)) return changedOperator(node.left, node.operatorToken, node.right);
  if (isIfStatement(node)) {
    const leaves = node.elseStatement === undefined && isWayOut(node.thenStatement);
    return [...negated(node.expression), ...(leaves ? [[node, ';'] as const] : [])];
  }
  if (isConditionalExpression(node)) return negated(node.condition);
  if (isWhileStatement(node)) return [[node.expression, 'false']];
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [[node, textOf(node.operand)]];
  if (isExpressionStatement(node)) return UNMISSED.test(textOf(node.expression)) ? [] : [[node, ';']];
  if (node.kind === SyntaxKind.TrueKeyword) return isLiteralTypeNode(node.parent) ? [] : [[node, 'false']];
  if (node.kind === SyntaxKind.FalseKeyword) return isLiteralTypeNode(node.parent) ? [] : [[node, 'true']];
  if (isArrayLiteralExpression(node)) return node.elements.length > 0 ? [[node, '[]']] : [];
  if (isSpreadElement(node)) return isArrayLiteralExpression(node.parent) ? [[node, '...[]']] : [];
  if (isSpreadAssignment(node)) return isConditionalSpread(node.expression) ? [] : [[node, '...{}']];
  if (isStringLiteral(node)) return isWordOfConsequence(node) ? [[node, "''"]] : [];
  if (isCallExpression(node)) return changedCall(node.expression, node);
  return [];
}

function changedOperator(left: Expression, operator: Node, right: Expression): readonly Change[] {
  if (operator.kind === SyntaxKind.QuestionQuestionToken) return [[{ pos: left.end, end: right.end }, '']];
  const after = OPERATORS[operator.kind];
  const joins = operator.kind === SyntaxKind.PlusToken && [left, right].some(isText);
  return after === undefined || joins ? [] : [[operator, after]];
}

function changedCall(callee: Expression, call: Node): readonly Change[] {
  if (!isPropertyAccessExpression(callee)) return [];
  const name = callee.name.text;
  const other = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (other !== undefined) return [[callee.name, other]];
  return REFINING.has(name) ? [[{ pos: callee.expression.end, end: call.end }, '']] : [];
}

/** Negates a condition, except comparisons and conditions with a `!`, which have mutations of their own. */
function negated(condition: Expression): readonly Change[] {
  if (isBinaryExpression(condition) && EQUALITY.has(condition.operatorToken.kind)) return [];
  if (isPrefixUnaryExpression(condition)) return [];
  return [[condition, `!(${textOf(condition)})`]];
}

function isWayOut(node: Node): boolean {
  if (isBlock(node)) {
    const last = node.statements.at(-1);
    return last !== undefined && isWayOut(last);
  }
  return (
    isReturnStatement(node) ||
    node.kind === SyntaxKind.ThrowStatement ||
    node.kind === SyntaxKind.ContinueStatement ||
    node.kind === SyntaxKind.BreakStatement
  );
}

/** Whether a spread is conditional; such spreads are skipped, because their condition is mutated already. */
function isConditionalSpread(node: Expression): boolean {
  return isConditionalExpression(isParenthesizedExpression(node) ? node.expression : node);
}

function isWordOfConsequence(node: Node & { readonly text: string }): boolean {
  if (!WORD.test(node.text)) return false;
  const { parent } = node;
  return (
    isReturnStatement(parent) ||
    isConditionalExpression(parent) ||
    (isPropertyAssignment(parent) && parent.name.end < node.pos)
  );
}

function isText(node: Node): boolean {
  return (
    isStringLiteral(node) ||
    isNoSubstitutionTemplateLiteral(node) ||
    node.kind === SyntaxKind.TemplateExpression
  );
}

function sqlChanges(node: Node): [start: number, end: number, after: string][] {
  const whole = isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node);
  if (!(whole || node.kind === SyntaxKind.TemplateExpression)) return [];
  const text = node.getSourceFile().text.slice(node.pos, node.end);
  if (!SQL.test(text)) return [];
  return SQL_WORDS.flatMap(([word, after]) =>
    [...text.matchAll(word)].map(({ 0: found, index }): [number, number, string] => [
      node.pos + index,
      node.pos + index + found.length,
      after,
    ]),
  );
}

function textOf(node: Node): string {
  return node.getSourceFile().text.slice(node.pos, node.end).trim();
}
