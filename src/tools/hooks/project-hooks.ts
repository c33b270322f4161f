import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Trust } from '../../permissions/grants/trust.ts';
import { containPath } from '../../permissions/path-containment.ts';
import type { CommandBounds } from '../../processes/sandbox/command-bounds.ts';
import { projectFolders } from '../../processes/working-folder.ts';
import type { Hooks } from '../../records/hook.ts';
import { parseJson } from '../../records/text/json-text.ts';
import { readWhole } from '../files/read-whole.ts';
import { hashFiles, type NamedContent, readSkillFolder } from '../files/skill-folder.ts';
import { type HookSettings, readHooks } from './hook-settings.ts';
import { createHooks } from './run-hooks.ts';

const FILES = ['.claude/settings.json', '.claude/settings.local.json'] as const;
const SIZE_MAX = 1024 * 1024;
/** A project without hooks is believed to have none for so long: agents call more often than people write files. */
const BARE_MS = 200;

/** Hooks that a project brings, in a file of Claude Code. */
export interface ProjectHooks {
  readonly path: string;
  readonly hooks: HookSettings;
  /** Hash of the file and of all scripts in `.claude/hooks` beside it. */
  readonly hash: string;
  readonly faults: readonly string[];
}

/** The files with hooks in the nearest folder of the project that has one; files without hooks are left out. Never throws. */
export function projectHooks(folder: string, home: string): readonly ProjectHooks[] {
  const root = projectFolders(folder, home)
    .toReversed()
    .find((place) => place !== home && FILES.some((name) => existsSync(join(place, name))));
  if (root === undefined) return [];
  return FILES.flatMap((name) => {
    const path = join(root, name);
    if (!existsSync(path)) return [];
    try {
      const content = readWhole(containPath(root, name), SIZE_MAX, 'settings have at most 1 MB');
      const parsed = parseJson(new TextDecoder().decode(content));
      if (!parsed.ok) throw new Error(`it is not valid JSON: ${parsed.error}`);
      const value = (parsed.value as { readonly hooks?: unknown } | null)?.hooks;
      if (value === undefined) return [];
      const { hooks, faults } = readHooks(value);
      const scripts = join(dirname(path), 'hooks');
      const files: readonly NamedContent[] = existsSync(scripts) ? readSkillFolder(scripts).files : [];
      return [{ path, hooks, faults, hash: hashFiles([{ name: '', content }, ...files]) }];
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      return [{ path, hooks: {}, hash: '', faults: [`it is ignored: ${fault}`] }];
    }
  });
}

/** All commands of hooks in full, for the person who decides on them. */
export function describeHooks(hooks: HookSettings): string {
  return Object.entries(hooks)
    .flatMap(([event, groups = []]) =>
      groups.flatMap(({ matcher = '', hooks: commands }) =>
        commands.map(({ command }) => `${event}${matcher === '' ? '' : ` ${matcher}`}: ${command}`),
      ),
    )
    .join('; ');
}

/** Hooks of the configuration, and those that projects bring and the user has accepted. Read at each call: what has changed since then no longer runs. */
export function hooksOf(own: HookSettings, bounds: CommandBounds, data_folder: string, home: string): Hooks {
  const trust = new Trust(data_folder);
  const accepted = ({ path, hash }: ProjectHooks) => trust.stateOf(path, hash) === 'trusted';
  let bare = { folder: '', until: 0 };
  return createHooks(own, bounds, (folder) => {
    if (folder === bare.folder && performance.now() < bare.until) return [];
    const found = projectHooks(folder, home);
    if (found.length === 0) bare = { folder, until: performance.now() + BARE_MS };
    return found.filter(accepted).map(({ hooks }) => hooks);
  });
}
