import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { containPath } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import { projectFolders } from '../../../processes/working-folder.ts';
import type { Skill } from '../../../records/agent/skill.ts';
import { orElse } from '../../../records/coppice-error.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { reasonOf } from '../../../tools/files/bounded-file.ts';
import { readSkillFolder } from '../../../tools/files/skill-folder.ts';
import { splitFrontMatter } from '../../../tools/front-matter.ts';
import type { ProjectPart, ProjectPlaces } from './project-places.ts';

const SKILLS_MAX = 50;
/** Limits for reading a skills folder, whose contents are untrusted. */
const NAMES_MAX = 200;
const DESCRIPTION_MAX = 500;
const USUAL_FOLDERS = ['.agents/skills', '.claude/skills'];

/** A skill, and whether it may be used. */
export interface FoundSkill extends ProjectPart, Pick<Skill, 'name' | 'description'> {}

export interface FoundSkills {
  /** Sorted by name. */
  readonly skills: readonly FoundSkill[];
  /** Notices about skills that could not be read, with the reason. */
  readonly notices: readonly string[];
}

/**
 * Reads the skills for a folder: the user's own, and those of the project's folders. Of several with the same name, the user's own counts, then the
 * nearest. An unreadable skill becomes a notice, not an error.
 */
export function readSkills(
  { folder, own_folder, home, trust }: ProjectPlaces,
  places: readonly string[] = USUAL_FOLDERS,
): FoundSkills {
  const notices: string[] = [];
  const skills = new Map<string, FoundSkill>();
  const folders = projectFolders(folder, home);
  const root = folders[0] ?? folder;
  const readAll = (place: string, own: boolean): void => {
    const names = orElse(() => readdirSync(place).sort(), []);
    if (names.length > NAMES_MAX)
      notices.push(
        `${printablePath(own ? place : relative(folder, place))} has ${names.length} entries: only the first ${NAMES_MAX} by name are searched for skills`,
      );
    for (const name of names.slice(0, NAMES_MAX)) {
      const path = join(place, name);
      if (!existsSync(join(path, 'SKILL.md'))) continue;
      const source = own ? `the user's own skill ${name}` : printablePath(relative(folder, path));
      try {
        // Symbolic links of the user may lead anywhere, those of a project not out of it.
        const real = own ? realpathSync.native(path) : containPath(root, path).absolute;
        const found = describeSkill(readSkillFolder(real), name);
        if (skills.has(found.name)) continue;
        if (skills.size === SKILLS_MAX) throw new Error(`at most ${SKILLS_MAX} skills are used`);
        const state = own ? 'own' : trust.stateOf(real, found.hash);
        skills.set(found.name, { ...found, kind: 'skill', path: real, source, trust: state });
      } catch (error) {
        notices.push(`${source} is ignored: ${reasonOf(error)}`);
      }
    }
  };
  readAll(join(own_folder, 'skills'), true);
  for (const place of folders.toReversed()) for (const inner of places) readAll(join(place, inner), false);
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), notices };
}

function describeSkill(
  { files, hash }: ReturnType<typeof readSkillFolder>,
  folder_name: string,
): Pick<FoundSkill, 'name' | 'description' | 'hash' | 'about'> {
  const text = files.find(({ name }) => name === 'SKILL.md')?.content.toString('utf8');
  if (text === undefined) throw new Error('its SKILL.md is not a regular file');
  const { fields } = splitFrontMatter(text);
  const name = fields.get('name') ?? folder_name;
  if (typeof name !== 'string' || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > 64)
    throw new Error('its name must be lowercase letters, digits and single hyphens, at most 64 characters');
  const description = fields.get('description');
  if (typeof description !== 'string' || clean(description) === '')
    throw new Error('its SKILL.md has no description between the --- lines');
  const line = clean(description);
  const cut = cutText(line, DESCRIPTION_MAX, '…');
  return { name, description: cut, hash, about: `${name}: ${cut} (${counted(files.length, 'file')})` };
}
