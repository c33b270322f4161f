import { relative } from 'node:path';
import { trustHash } from '../../../models/workflow/saved-scripts.ts';
import { readSource, savedScripts } from '../../../models/workflow/script-places.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import { reasonOf } from '../../../tools/files/bounded-file.ts';
import type { ProjectPart, ProjectPlaces } from './project-places.ts';
import type { FoundFiles } from './read-agent-files.ts';

/** The workflows that a project brings (docs/workflows.md#trust); those of the home folder need no trust. */
export function readWorkflowFiles({ folder, home, trust }: ProjectPlaces): FoundFiles<ProjectPart> {
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
