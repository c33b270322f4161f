import { EMPTY_NAMES, IMPURE, MAX_LINES, PURE } from './floor-table.ts';
import type { Problem } from './problem.ts';
import type { ScannedModule } from './scan-module.ts';

type Broken = Omit<Problem, 'file'>;

/** Checks the rules that concern a source file by itself. `place` is its path below src/, with slashes. */
export function fileRules(place: string, text: string, scanned: ScannedModule): Broken[] {
  return [
    ...nameRules(place),
    ...lengthRules(text),
    ...scanned.star_exports.map((line) => ({ line, message: 'no `export *`: name what is exported.' })),
    ...scanned.default_exports.map((line) => ({ line, message: 'no default exports: give it its name.' })),
    ...purityRules(place, scanned),
  ];
}

function nameRules(place: string): Broken[] {
  const parts = place.split('/');
  const problems: Broken[] = [];
  for (const part of parts) {
    const name = part.replace(/\.(?:ts|cjs)$/, '');
    if (
      EMPTY_NAMES.test(name) ||
      name.split('-').some((word) => /^(?:utils?|helpers?|managers?)$/.test(word))
    )
      problems.push({
        line: 1,
        message: `${part} says nothing about what is in it: name it for its one thing.`,
      });
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))
      problems.push({ line: 1, message: `${part}: names of files and folders are kebab-case.` });
  }
  return problems;
}

function lengthRules(text: string): Broken[] {
  const count = text.trimEnd().split('\n').length;
  if (count <= MAX_LINES) return [];
  return [
    { line: MAX_LINES + 1, message: `has ${count} lines: a file over ${MAX_LINES} has found a second noun.` },
  ];
}

function purityRules(place: string, scanned: ScannedModule): Broken[] {
  const folder = place.split('/')[0] as string;
  if (!PURE.has(folder)) return [];
  return scanned.phrases.flatMap(({ line, text }) => {
    const found = IMPURE.find(({ phrase }) => phrase.test(text));
    if (found === undefined) return [];
    const what = text.split(' ')[0];
    return [
      {
        line,
        message: `${folder} is pure, and \`${what}\` here ${found.what}. Pass the value in, or make it an effect of the runtime.`,
      },
    ];
  });
}
