import type { AgentConfig } from '../../../records/agent/agent.ts';
import { profileSkills } from '../../../records/agent/skill.ts';
import { readHookFiles } from './hook-files.ts';
import { type InstructionFile, instructionText, readInstructionFiles } from './instruction-files.ts';
import type { ProfilesInput } from './profiles.ts';
import { isUsed, type ProjectPart, projectPlaces, unusedNotice } from './project-places.ts';
import { readServersFile, type ServersFile } from './server-files.ts';
import { type FoundSkills, readSkills } from './skill-files.ts';
import { readWorkflowFiles } from './workflow-files.ts';

/** Instructions, skills and MCP servers that the user and the project bring for every agent (docs/instructions.md). */
export interface ProjectParts {
  readonly instructions: readonly InstructionFile[];
  readonly skills: FoundSkills['skills'];
  readonly server_files: readonly ServersFile[];
  readonly server_faults: readonly string[];
  /** All instructions, skills, server files, workflows and hooks. */
  readonly parts: readonly ProjectPart[];
  /** Problems in the parts. */
  readonly faults: readonly string[];
  /** Notice about the parts that wait for trust; null if none do. */
  readonly unused: string | null;
}

/** Loads what applies in the working folder. Throws `E_NO_FOLDER`. */
export function loadProjectParts(input: ProfilesInput): ProjectParts {
  const { configuration } = input.loaded;
  const places = projectPlaces(input);
  const { files, notices } = readInstructionFiles(places, configuration.instructions?.files);
  const found = readSkills(places, configuration.skills?.folders);
  const { files: server_files, notices: server_faults } = readServersFile(places);
  const scripts = readWorkflowFiles(places);
  const hooks = readHookFiles(places);
  const parts = [...files, ...found.skills, ...server_files, ...scripts.files, ...hooks.files];
  const unused = unusedNotice(parts, places.folder);
  const faults = [...notices, ...found.notices, ...server_faults, ...scripts.notices, ...hooks.notices];
  return { instructions: files, skills: found.skills, server_files, server_faults, parts, faults, unused };
}

/** Selects what a root agent gets by the defaults of the configuration. */
export function projectPartsConfig(
  input: ProfilesInput,
): Pick<AgentConfig, 'instructions' | 'skills' | 'mcp_servers'> {
  const { instructions: wanted = true, skills: named = null } =
    input.loaded.configuration.agents?.defaults ?? {};
  const { instructions, skills, server_files } = loadProjectParts(input);
  const own = input.loaded.configuration.mcp?.servers ?? {};
  const mcp_servers = server_files
    .filter(isUsed)
    .flatMap(({ servers }) => servers.filter(({ name }) => !Object.hasOwn(own, name)));
  const used = skills.filter(isUsed).map(({ name, description, path: folder, hash, trust }) => ({
    name,
    description,
    folder,
    hash: trust === 'own' ? null : hash,
  }));
  return {
    ...(wanted ? { instructions: instructionText(instructions) } : {}),
    ...profileSkills(used, { skills: named }),
    ...(mcp_servers.length === 0 ? {} : { mcp_servers }),
  };
}
