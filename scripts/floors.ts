import { readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative, sep } from 'node:path';

export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

interface Import {
  readonly line: number;
  readonly specifier: string;
}

/** Floor of each folder of src/: a file imports only from floors below its own, and from its own folder. */
const FLOORS: Readonly<Record<string, number>> = {
  core: 0,
  store: 1,
  models: 1,
  tools: 1,
  toolsets: 2,
  runtime: 3,
  cron: 4,
  channels: 4,
  mcp: 4,
  acp: 4,
  server: 4,
  tui: 4,
  cli: 5,
};
const LIBRARY_FLOOR = 4.5;
/** What doors may see of the runtime. */
const RUNTIME_FACE = new Set(['runtime-face.ts', 'runtime-event.ts', 'open-runtime.ts']);
/** Imports between siblings that are allowed, with the reason. */
const SIBLINGS: Readonly<Record<string, string>> = {
  'models → tools/tool-spec.ts': 'a model is told of tools in the shape that tools describe themselves in',
};
/** Floors that decide and do nothing: no I/O, so none of these. */
const PURE = new Set(['core', 'toolsets']);
const MAX_LINES = 300;
/** Files that may be longer, each with its reason. */
const LONGER: Readonly<Record<string, { readonly lines: number; readonly reason: string }>> = {
  'runtime/executor.ts': {
    lines: 400,
    reason: 'the one round of fold, commit and perform; its halves share every cell',
  },
};
const BAD_NAMES = /^(index|utils?|helpers?|misc|types|managers?)\.ts$/;

/** Checks the files of one source tree. `files` are absolute paths below `src`. */
export function checkFloors(src: string, files: readonly string[]): Problem[] {
  const graph = new Map<string, string[]>();
  const problems = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const imports = importsOf(text);
    const local = imports.filter((one) => one.specifier.startsWith('.'));
    graph.set(
      file,
      local.map((one) => normalize(join(dirname(file), one.specifier))),
    );
    return [...checkText(src, file, text), ...imports.flatMap((one) => checkImport(src, file, one))];
  });
  const cycle = findCycle(graph);
  if (cycle !== null) {
    const path = cycle.map((file) => relative(src, file)).join(' → ');
    problems.push({
      file: cycle[0] as string,
      line: 1,
      message: `import cycle: ${path}. Move what both need into a file of its own.`,
    });
  }
  return problems;
}

/** Imports, exports from, and dynamic imports, type imports included; strings in comments do not count. */
export function importsOf(text: string): Import[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );
  const found: Import[] = [];
  const pattern =
    /(?:^|[;\n])\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|[;\n])\s*import\s*['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]/g;
  for (const match of code.matchAll(pattern)) {
    const end = match.index + match[0].length;
    found.push({
      line: code.slice(0, end).split('\n').length,
      specifier: (match[1] ?? match[2] ?? match[3]) as string,
    });
  }
  return found;
}

function folderOf(src: string, file: string): string {
  const [first = ''] = relative(src, file).split(sep);
  return first.endsWith('.ts') ? '' : first;
}

function floorOf(folder: string): number | undefined {
  return folder === '' ? LIBRARY_FLOOR : FLOORS[folder];
}

function checkImport(src: string, file: string, { line, specifier }: Import): Problem[] {
  const from = folderOf(src, file);
  const problem = (message: string): Problem[] => [{ file, line, message }];
  if (!specifier.startsWith('.')) {
    if (from === 'core')
      return problem(
        `core imports nothing, not even ${specifier}. Let a higher floor do it and pass the result in.`,
      );
    if (PURE.has(from) && specifier.startsWith('node:'))
      return problem(`${from} does no I/O, so it may not import ${specifier}.`);
    return [];
  }
  const target = normalize(join(dirname(file), specifier));
  if (!target.startsWith(src + sep)) return problem(`src imports only from src, not ${specifier}.`);
  const to = folderOf(src, target);
  if (to === from) return [];
  const [above, below] = [floorOf(from), floorOf(to)];
  if (above === undefined || below === undefined)
    return problem(
      `the folder ${above === undefined ? from : to} has no floor: add it to FLOORS in scripts/floors.ts.`,
    );
  const inside = relative(src, target).split(sep).join('/');
  if (above === below && !(`${from} → ${inside}` in SIBLINGS))
    return problem(`${from} and ${to} are on the same floor and may not import each other.`);
  if (above < below)
    return problem(
      `${from} (floor ${above}) may not import ${inside} (floor ${below}): a floor sees only what is below it.`,
    );
  if (to === 'runtime' && !RUNTIME_FACE.has(basename(target)))
    return problem(
      `of the runtime, ${from || 'the library'} may import only ${[...RUNTIME_FACE].join(', ')}.`,
    );
  return [];
}

function checkText(src: string, file: string, text: string): Problem[] {
  const problems: Problem[] = [];
  const lines = text.split('\n');
  const say = (line: number, message: string) => problems.push({ file, line, message });
  if (BAD_NAMES.test(basename(file)))
    say(1, `${basename(file)} says nothing about what is in it: name the file for its one thing.`);
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*\.ts$/.test(basename(file))) say(1, 'file names are kebab-case.');
  const inside = relative(src, file).split(sep).join('/');
  const count = text.trimEnd().split('\n').length;
  if (count > (LONGER[inside]?.lines ?? MAX_LINES))
    say(
      MAX_LINES,
      `${relative(src, file)} has ${count} lines: a file over ${MAX_LINES} has found a second noun.`,
    );
  lines.forEach((line, index) => {
    if (/^\s*export\s+\*/.test(line)) say(index + 1, 'no `export *`: name what is exported.');
    if (/^\s*export\s+default\b/.test(line)) say(index + 1, 'no default exports.');
  });
  return problems;
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle !== null) return cycle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle !== null) return cycle;
  }
  return null;
}
