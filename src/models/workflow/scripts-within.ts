import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { containPath, openContained } from '../../permissions/path-containment.ts';
import { scriptHash } from '../../permissions/tool-permission.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import { SOURCE_MAX } from './script-places.ts';

/** A workflow that a script may run, as it was when the script was looked at. */
export type ScriptWithin = NonNullable<WorkflowTerms['within']>[number];

/** Of the names in a script. */
const WITHIN_MAX = 50;
const TRIED_MAX = 200;
/** `workflow('NAME'` or `workflow({ scriptPath: 'PATH'`. */
const CALL = /\bworkflow\s*\(\s*(?:\{\s*scriptPath\s*:\s*)?(?:'([^'\\\n]+)'|"([^"\\\n]+)"|`([^`\\\n$]+)`)/g;
const TEXT = /'([^'"`\\\n$]+)'|"([^'"`\\\n$]+)"|`([^'"`\\\n$]+)`/g;

/**
 * How a script may name workflows within it, each once: what it calls them by, and where it calls one by anything but a text, every text in it. It is searched, not
 * parsed: a person waits. What is missed here was seen by nobody, and needs a rule once it is called.
 */
export function namesWithin(body: string): string[] {
  const found = (pattern: RegExp) =>
    [...body.matchAll(pattern)].flatMap(([, ...texts]) => texts.filter((text) => text !== undefined));
  const others = /\bworkflow\b/.test(body.replaceAll(CALL, ''));
  return [...new Set([...found(CALL), ...(others ? found(TEXT) : [])])];
}

/** Loads each that is there. `load` throws for one that is none. */
export function loadWithin(
  names: readonly string[],
  load: (wanted: string) => Omit<ScriptWithin, 'wanted'>,
): ScriptWithin[] {
  const within: ScriptWithin[] = [];
  let characters = 0;
  for (const wanted of names.slice(0, TRIED_MAX)) {
    try {
      const { name, description, script } = load(wanted);
      characters += script.length;
      if (characters > SOURCE_MAX || within.length === WITHIN_MAX) break;
      within.push({ wanted, name, description, script });
    } catch {
      // It fails where the script calls it, if it does.
    }
  }
  return within;
}

/** Hash of a script with those that it may run: one that may run none has its own. */
export function hashOfAll(source: string, within: readonly ScriptWithin[]): string {
  if (within.length === 0) return scriptHash(source);
  const parts = within.map(({ wanted, script }) => [wanted, scriptHash(script)]);
  return scriptHash(JSON.stringify([scriptHash(source), ...parts]));
}

/** All that a run of the script may execute, for people. */
export function wholeScript(source: string, within: readonly ScriptWithin[]): string {
  const others = within.map(({ wanted, script }) => `\n\n// ${wanted}, which it may run:\n${script}`);
  return source + others.join('');
}

/** Reads a script that another one names by its path: in the folder, wherever links lead. Throws `E_SCRIPT`. */
export function readWithin(folder: string, path: string): string {
  try {
    const descriptor = openContained(containPath(folder, path));
    try {
      const about = fstatSync(descriptor);
      if (!about.isFile() || about.size > SOURCE_MAX * 4) throw new Error(`${path} is no script`);
      return readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new CoppiceError('E_SCRIPT', (error as Error).message);
  }
}
