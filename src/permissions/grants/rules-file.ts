import { readFileSync } from 'node:fs';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import { replaceFile } from '../replace-file.ts';

const KEYS = ['id', 'rule', 'folder', 'asked_by', 'granted_by', 'granted_at'] as const;

/**
 * A permanently granted rule. `id`: id of the question; `rule`: an allow rule; `folder`: absolute path where it applies; `asked_by`: the rules that asked
 * (`Grant`); `granted_at`: an ISO 8601 time.
 */
export type KeptRule = Readonly<Record<(typeof KEYS)[number], string>>;

/** The permanently granted rules; empty if the file is missing, damaged or unreadable, so that questions are asked again. */
export function readRules(file: string): readonly KeptRule[] {
  return orElse(() => parse(readFileSync(file, 'utf8')) ?? [], []);
}

/** Adds a rule, replacing one with the same id. Throws `E_CONFIG` if the file is damaged, or cannot be read or written. */
export function addRule(file: string, rule: KeptRule): void {
  const before = forChange(file);
  write(file, [...before.filter(({ id }) => id !== rule.id), rule]);
}

/** Returns false if there is no such rule. Throws like `addRule`. */
export function removeRule(file: string, id: string): boolean {
  const before = forChange(file);
  const after = before.filter((rule) => rule.id !== id);
  if (after.length === before.length) return false;
  write(file, after);
  return true;
}

function parse(text: string): readonly KeptRule[] | null {
  const { rules } = JSON.parse(text) as { readonly rules?: unknown };
  return Array.isArray(rules) && rules.every(isRule) ? rules : null;
}

function isRule(value: unknown): value is KeptRule {
  const fields = value as KeptRule | null;
  return typeof fields === 'object' && KEYS.every((key) => typeof fields?.[key] === 'string');
}

/** Reads the rules before a change. A damaged file is not overwritten, since it may have been edited by hand. */
function forChange(file: string): readonly KeptRule[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fault(file, `cannot be read: ${(error as Error).message}`, error);
  }
  const rules = orElse(() => parse(text), null);
  if (rules !== null) return rules;
  throw fault(file, 'does not hold rules as Coppice writes them');
}

function write(file: string, rules: readonly KeptRule[]): void {
  try {
    replaceFile(file, `${JSON.stringify({ version: 1, rules }, undefined, 2)}\n`);
  } catch (error) {
    throw fault(file, `cannot be written: ${(error as Error).message}`, error);
  }
}

function fault(file: string, what: string, cause?: unknown): CoppiceError {
  return new CoppiceError('E_CONFIG', `the rules file ${file} ${what}`, {
    hint: 'Repair or remove the file, then answer again',
    cause,
  });
}
