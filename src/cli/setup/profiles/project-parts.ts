import { relative } from 'node:path';
import { trustHash } from '../../../models/workflow/saved-scripts.ts';
import { readSource, savedScripts } from '../../../models/workflow/script-places.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import type { AgentConfig } from '../../../records/agent/agent.ts';
import { profileSkills } from '../../../records/agent/skill.ts';
import { reasonOf } from '../../../tools/files/bounded-file.ts';
import { describeHooks, projectHooks } from '../../../tools/hooks/project-hooks.ts';
import { type InstructionFile, instructionText, readInstructionFiles } from './instruction-files.ts';
import type { ProfilesInput } from './profiles.ts';
import {
  isUsed,
  type ProjectPart,
  type ProjectPlaces,
  projectPlaces,
  unusedNotice,
} from './project-places.ts';
import type { FoundFiles } from './read-agent-files.ts';
import { readServersFile, type ServersFile } from './server-files.ts';
import { type FoundSkills, readSkills } from './skill-files.ts';

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

/** The hooks that a project brings (docs/hooks.md). */
function readHookFiles({ folder, home, trust }: ProjectPlaces): FoundFiles<ProjectPart> {
  const found = projectHooks(folder, home).map(({ path, hooks, hash, faults }) => ({
    ...{ kind: 'hooks' as const, path, source: printablePath(relative(folder, path)), hash, faults },
    ...{ trust: trust.stateOf(path, hash), about: describeHooks(hooks) },
  }));
  return {
    files: found.filter(({ about }) => about !== ''),
    notices: found.flatMap(({ source, faults }) => faults.map((fault) => `${source}: ${fault}`)),
  };
}

/** The workflows that a project brings (docs/workflows.md#trust); those of the home folder need no trust. */
function readWorkflowFiles({ folder, home, trust }: ProjectPlaces): FoundFiles<ProjectPart> {
  const files: ProjectPart[] = [];
  const notices: string[] = [];
  for (const { path, own } of savedScripts(folder, home)) {
    if (own) continue;
    const source = printablePath(relative(folder, path));
    try {
      const script = readSource(path, source);
      const hash = trustHash(script, folder);
      const about = `a script of ${script.split('\n').length} lines`;
      files.push({ kind: 'workflow', path, source, hash, trust: trust.stateOf(path, hash), about });
    } catch (error) {
      notices.push(`${source} is ignored: ${reasonOf(error)}`);
    }
  }
  return { files, notices };
}
