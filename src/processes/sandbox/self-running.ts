import fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { orElse } from '../../records/coppice-error.ts';
import { isInside, realPathOrNull } from './governing.ts';
import { placesOf } from './known-places.ts';

/** What editors, agent programs and hooks run by themselves in a folder that counts as trusted, relative to it (docs/sandbox.md). */
const SELF_RUNNING = placesOf(`
  .husky .vscode/{tasks,settings,launch,mcp}.json .zed/{tasks,settings,debug}.json .devcontainer .devcontainer.json .github/hooks .hg/hgrc
  .idea/{runConfigurations,startup.xml,watcherTasks.xml,externalDependencies.xml} .vimrc .nvimrc .nvim.lua .exrc .lazy.lua
  .dir-locals.el .dir-locals-2.el .mcp.json .claude/{settings.json,settings.local.json,hooks} .cursor/{hooks.json,hooks,mcp.json,cli.json,environment.json}
  .codex .gemini/{settings.json,hooks,extensions} .qwen/{settings.json,hooks,extensions} .opencode opencode.json opencode.jsonc .crush.json crush.json
  .aider.conf.yml .windsurf/hooks.json .kiro/{hooks,settings} .factory/{settings.json,hooks,mcp.json} .amp/settings.json .roo/mcp.json mise.toml .mise.toml
  .pre-commit-config.yaml lefthook.{yml,yaml,toml,json} .lefthook.{yml,yaml,toml,json} lefthook-local.{yml,yaml,toml,json}
`);
/** The plan of a stopped rebase, and a line in it that runs a program. */
const PLAN = 'rebase-merge/git-rebase-todo';
const RUNS = /^[ \t]*(?:x|exec)(?!\S)/i;
const PLAN_BYTES_MAX = 1_000_000;

/** Places that may run by themselves, without those that the user opened (`sandbox.unprotect`). */
export function selfRunning(unprotected: readonly string[]): readonly string[] {
  return SELF_RUNNING.filter((place) => !unprotected.some((one) => isInside(place, one)));
}

/**
 * Guards what runs by itself in the folder, and the plans of stopped rebases in `repositories`. `read_only`: existing canonical paths, to be mounted so.
 * `takeBack` sets aside what has appeared since, and returns a sentence about each: nothing stands in for what is missing, because git and editors would see it.
 */
export function guardFolder(cwd: string, unprotected: readonly string[], repositories: readonly string[]) {
  const places = selfRunning(unprotected);
  const loose = places.filter((place) => realPathOrNull(join(cwd, place)) !== join(cwd, place));
  const before = loose.map((place) => stateOf(cwd, place));
  const plans = repositories.map((folder) => planOf(folder));
  return {
    read_only: places
      .flatMap((place) => realPathOrNull(join(cwd, place)) ?? [])
      .filter((path) => isInside(path, cwd)),
    takeBack: () => [
      ...loose.flatMap((place, at) => {
        if ([before[at], NOTHING].includes(stateOf(cwd, place))) return [];
        return `${setAside(cwd, place)}: editors or tools run ${place} by themselves, outside of the sandbox. If the user wants that: "sandbox.unprotect": ["${place}"] in the configuration`;
      }),
      ...repositories.flatMap((folder, at) => {
        const plan = planOf(folder);
        const kept = plan.filter((line) => !RUNS.test(line) || plans[at]?.includes(line));
        if (kept.length === plan.length) return [];
        const moved = setAside(folder, PLAN);
        const path = join(folder, PLAN);
        if (fs.existsSync(dirname(path)) && !fs.existsSync(path)) fs.writeFileSync(path, kept.join('\n'));
        return `${moved}: git would run its "exec" lines outside of the sandbox. The rebase goes on without them`;
      }),
    ],
  };
}

const NOTHING = ' null undefined undefined';

/** Identifies what is there, or the link that may lead to what is to come. */
function stateOf(folder: string, place: string): string {
  const real = realPathOrNull(join(folder, place));
  const status = real === null ? undefined : fs.statSync(real, { throwIfNoEntry: false });
  const link = linkOf(folder, place) ?? '';
  return `${targetOf(link)} ${real} ${status?.ino} ${status?.ctimeMs}`;
}

/** The first link on the way to the place: what it leads to may not be the agent's. */
function linkOf(folder: string, place: string): string | undefined {
  const names = place.split('/');
  const steps = names.map((_, at) => join(folder, ...names.slice(0, at + 1)));
  return steps.find((step) => targetOf(step) !== '');
}

function targetOf(path: string): string {
  // Perhaps no link, or in a folder that the agent has locked.
  return orElse(() => fs.readlinkSync(path), '');
}

/** Lines of the plan. In its place an agent may have put a pipe, which would block, or a file without end. */
function planOf(repository: string): string[] {
  try {
    const file = fs.openSync(join(repository, PLAN), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const text = Buffer.alloc(PLAN_BYTES_MAX);
    const bytes = fs.readSync(file, text);
    fs.closeSync(file);
    return bytes === PLAN_BYTES_MAX ? ['exec'] : text.toString('utf8', 0, bytes).split('\n');
  } catch {
    return [];
  }
}

/** Renames what is there, or the link that leads to it. */
function setAside(folder: string, place: string): string {
  const from = linkOf(folder, place) ?? join(folder, place);
  let to = `${from}.set-aside`;
  for (let count = 2; fs.existsSync(to); count += 1) to = `${from}.set-aside-${count}`;
  try {
    // The agent may have locked it.
    fs.chmodSync(dirname(from), fs.statSync(dirname(from)).mode | 0o700);
    fs.renameSync(from, to);
    return `${relative(folder, from)} was set aside as ${to}`;
  } catch (error) {
    return `${from} could not be set aside (${(error as Error).message}): do not use it unseen`;
  }
}
