import { readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileRules } from './file-rules.ts';
import {
  CLOSURES,
  CROWDED,
  DOOR_FLOOR,
  FLOORS,
  LIBRARY,
  LIBRARY_PARTS,
  LOADER,
  MAX_NAMES,
  PURE,
  RECORDS,
  RUNTIME,
  RUNTIME_FACE,
} from './floor-table.ts';
import { importCycles, mutualFolders } from './import-cycles.ts';
import type { Problem } from './problem.ts';
import { type ModuleReference, scanModule } from './scan-module.ts';

/** Checks the files of one source tree against the floors and the rules for each file. `files` are absolute paths below `src`. */
export function checkFloors(src: string, files: readonly string[]): Problem[] {
  const graph = new Map<string, string[]>();
  const packages = new Map<string, readonly string[]>();
  const problems = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const scanned = scanModule(text);
    graph.set(file, localTargets(file, scanned.references));
    packages.set(
      file,
      scanned.references.flatMap(({ specifier }) => packageOf(specifier) ?? []),
    );
    const place = inside(src, file);
    const broken = [
      ...fileRules(place, text, scanned),
      ...scanned.references.flatMap((one) => {
        const message = refusal(src, file, one.specifier);
        return message === null ? [] : [{ line: one.line, message }];
      }),
    ];
    return broken.map(({ line, message }) => ({ file, line, message }));
  });
  const cycles = importCycles(graph).map((cycle) => ({
    file: cycle[0] as string,
    line: 1,
    message: `import cycle: ${cycle.map((file) => inside(src, file)).join(' → ')}. Move what both need into a file of its own.`,
  }));
  const imports = [...graph].flatMap(([from, targets]) =>
    targets.map((to) => [inside(src, from), inside(src, to)] as const),
  );
  const mutual = mutualFolders(imports).map(([from, to]) => ({
    file: join(src, from[0]),
    line: 1,
    message: `imports ${from[1]}, and ${to[0]} imports ${to[1]}: sibling folders import each other one way only. Move what both need, or the file that is in the wrong one.`,
  }));
  return [
    ...problems,
    ...cycles,
    ...mutual,
    ...openClosures(src, graph, packages),
    ...crowdedFolders(src, files),
  ];
}

/** Files that an entry point of `CLOSURES` may not reach, each with the shortest way to it, and packages likewise. */
function openClosures(
  src: string,
  graph: ReadonlyMap<string, readonly string[]>,
  packages: ReadonlyMap<string, readonly string[]>,
): Problem[] {
  return Object.entries(CLOSURES).flatMap(([entry, allowed]) => {
    const first = join(src, entry);
    const cameFrom = new Map<string, string | null>(graph.has(first) ? [[first, null]] : []);
    const problems: Problem[] = [];
    for (const file of cameFrom.keys()) {
      const way: string[] = [];
      for (let at: string | null = file; at !== null; at = cameFrom.get(at) ?? null)
        way.unshift(inside(src, at));
      const report = (what: string, to: string) =>
        problems.push({
          file: cameFrom.get(file) ?? file,
          line: 1,
          message: `${entry} may not reach ${what} ${to} (${way.join(' → ')}): pass it in, or allow it in scripts/floor-table.ts.`,
        });
      const place = inside(src, file);
      if (place !== entry && !allowed.places.some((one) => place.startsWith(one))) {
        report('the file', place);
        continue;
      }
      for (const name of packages.get(file) ?? [])
        if (!allowed.packages.includes(name)) report('the package', name);
      for (const next of graph.get(file) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, file);
    }
    return problems;
  });
}

/** The package that a specifier names; null for files and built-in modules. */
function packageOf(specifier: string | null): string | null {
  if (specifier === null || /^\.|^node:/.test(specifier)) return null;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? null;
}

function crowdedFolders(src: string, files: readonly string[]): Problem[] {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const parts = inside(src, file).split('/');
    for (const [depth, name] of parts.entries()) {
      const folder = parts.slice(0, depth).join('/');
      folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
    }
  }
  return [...folders].flatMap(([folder, names]) => {
    const allowed = CROWDED[folder]?.names ?? MAX_NAMES;
    const message =
      names.size > allowed
        ? `holds ${names.size} names: a folder over ${allowed} has found rooms of its own.`
        : CROWDED[folder] !== undefined && names.size <= MAX_NAMES
          ? 'needs no allowance any more: take it out of scripts/floor-table.ts.'
          : null;
    return message === null ? [] : [{ file: join(src, folder), line: 1, message }];
  });
}

function localTargets(file: string, references: readonly ModuleReference[]): string[] {
  return references.flatMap(({ specifier }) =>
    specifier?.startsWith('.') === true ? [normalize(join(dirname(file), specifier))] : [],
  );
}

function inside(src: string, file: string): string {
  return relative(src, file).split(sep).join('/');
}

function folderOf(place: string): string {
  return place.includes('/') ? (place.split('/')[0] as string) : LIBRARY;
}

/** Reason why the file may not import `specifier`, or `null`. */
function refusal(src: string, file: string, specifier: string | null): string | null {
  const from = folderOf(inside(src, file));
  if (specifier === null)
    return 'an import that computes its name cannot be checked: write the name as a string.';
  if (!specifier.startsWith('.')) return packageRefusal(from, specifier);
  const target = normalize(join(dirname(file), specifier));
  if (!target.startsWith(src + sep)) return `src imports only from src, not ${specifier}.`;
  return floorRefusal(from, inside(src, target));
}

function packageRefusal(from: string, specifier: string): string | null {
  if (from === RECORDS)
    return `records import nothing, not even ${specifier}. Let a higher floor do it and pass the result in.`;
  if (PURE.has(from) && specifier.startsWith('node:') && specifier !== LOADER)
    return `${from} does no I/O, so it may not import ${specifier}. Let the runtime do it as an effect.`;
  return null;
}

/** `target` is relative to src/, such as `tools/tool.ts`. */
function floorRefusal(from: string, target: string): string | null {
  const to = folderOf(target);
  if (to === from) return null;
  const [own, other] = [FLOORS[from], FLOORS[to]];
  if (own === undefined || other === undefined)
    return `the folder ${own === undefined ? from : to} has no floor: give it one in scripts/floor-table.ts.`;
  if (own === other)
    return `${named(from)} and ${named(to)} are on the same floor and may not import each other. Move what both need to a floor below.`;
  if (own < other)
    return `${named(from)} (floor ${own}) may not import ${target} (floor ${other}): a floor sees only what is below it.`;
  if (to === RUNTIME && !RUNTIME_FACE.includes(target))
    return `of the runtime, ${named(from)} may import only ${RUNTIME_FACE.join(', ')}. Add what is missing to its public face.`;
  if (from === LIBRARY && other === DOOR_FLOOR && to !== LIBRARY_PARTS)
    return `the library may not import the door ${target}: it builds on the runtime.`;
  return null;
}

function named(folder: string): string {
  return folder === LIBRARY ? 'the library' : folder;
}
