import type { AgentConfig } from '../../../records/agent/agent.ts';
import { profileSkills } from '../../../records/agent/skill.ts';
import { type InstructionFiles, instructionText, readInstructionFiles } from './instruction-files.ts';
import type { ProfilesInput } from './profiles.ts';
import { type BroughtPart, isUsed, projectPlaces, unusedNotice } from './project-places.ts';
import { type FoundSkills, readSkills } from './skill-files.ts';

/** What the user and the project bring for every agent (docs/instructions.md). */
export interface Brought {
  readonly instructions: InstructionFiles['files'];
  readonly skills: FoundSkills['skills'];
  /** Both. */
  readonly parts: readonly BroughtPart[];
  /** What is wrong with them. */
  readonly faults: readonly string[];
  /** Which of them wait for trust. */
  readonly unused: string | null;
}

/** What holds for the working folder. Throws `E_NO_FOLDER`. */
export function loadBrought(input: ProfilesInput): Brought {
  const { configuration } = input.loaded;
  const places = projectPlaces(input);
  const { files, notices } = readInstructionFiles(places, configuration.instructions?.files);
  const found = readSkills(places, configuration.skills?.folders);
  const parts = [...files, ...found.skills];
  const unused = unusedNotice(parts, places.folder);
  return { instructions: files, skills: found.skills, parts, faults: [...notices, ...found.notices], unused };
}

/** What a root agent gets of it by the defaults of the configuration. */
export function broughtConfig(input: ProfilesInput): Pick<AgentConfig, 'instructions' | 'skills'> {
  const { instructions: wanted = true, skills: named = null } =
    input.loaded.configuration.agents?.defaults ?? {};
  const { instructions, skills } = loadBrought(input);
  const used = skills.filter(isUsed).map(({ name, description, path: folder, hash, trust }) => ({
    name,
    description,
    folder,
    hash: trust === 'own' ? null : hash,
  }));
  return {
    ...(wanted ? { instructions: instructionText(instructions) } : {}),
    ...profileSkills(used, { skills: named }),
  };
}
