import { join } from 'node:path';
import * as z from 'zod';
import { printablePath } from '../../permissions/printable-path.ts';
import { packageRoot } from '../../processes/working-folder.ts';
import { type Skill, skillsOf } from '../../records/agent/skill.ts';
import type { Tool } from '../../records/tool.ts';
import { cleanLines } from '../../render/clean.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { BUILT_IN_PERMISSIONS } from '../built-in-permissions.ts';
import { defineOwnTool } from '../define-tool.ts';
import { isBinary } from './file-kind.ts';
import { readSkillFolder } from './skill-folder.ts';

const input = z.strictObject({
  name: z.string().min(1).describe('Name of the skill.'),
  file: z.string().min(1).optional().describe('A file of its folder, by the path that the skill says.'),
});

/** The guide for authors of workflows, with examples. The tool `workflow` names it, so no prompt lists it. */
const WORKFLOW_GUIDE = 'workflow-scripts';

function builtInSkills(): Skill[] {
  const folder = join(packageRoot(import.meta.dirname), 'examples', 'workflows');
  return [{ name: WORKFLOW_GUIDE, description: '', folder, hash: null }];
}

/** Reads a skill, or a file that belongs to it, in the version that the user accepted. */
export const skill: Tool<z.infer<typeof input>> = {
  ...defineOwnTool<z.infer<typeof input>>({
    name: 'skill',
    permission: BUILT_IN_PERMISSIONS.skill,
    description: 'Read a skill: instructions for a certain kind of work, or a file that they name.',
    input,
    side_by_side: true,
    idempotent: true,
    subject: ({ name, file }) => (file === undefined ? name : `${name} ${file}`),
    run({ name, file = 'SKILL.md' }, { skills: given = [] }) {
      const skills = [...given, ...builtInSkills()];
      const found = skills.find((one) => one.name === name);
      if (found === undefined)
        throw new Error(
          `field "name": there is no skill "${name}". ${nameHint(
            name,
            skills.map((one) => one.name),
            'Skills',
          )}`,
        );
      const { files, hash } = readSkillFolder(found.folder);
      if (found.hash !== null && found.hash !== hash)
        throw new Error(
          `the skill ${name} has changed since this conversation began, so it is not used: go on without it, and tell the user, who can accept it for new conversations with coppice trust`,
        );
      const names = files.map((one) => printablePath(one.name));
      const read = files.find((one) => one.name === file.replace(/^(?:\.\/)+/, ''));
      if (read === undefined)
        throw new Error(
          `field "file": the skill ${name} has no file ${printablePath(file)}. It has: ${names.join(', ')}`,
        );
      if (isBinary(read.content)) throw new Error(`field "file": ${printablePath(file)} is not text`);
      const text = cleanLines(read.content.toString('utf8'));
      if (file !== 'SKILL.md') return text;
      return `[skill ${name}, in the folder ${printablePath(found.folder)}; its files: ${names.join(', ')}]\n${text}`;
    },
  }),
  audience: (config) => skillsOf(config).length > 0 || config.toolsets.includes('workflow'),
};
