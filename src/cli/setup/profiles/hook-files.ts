import { relative } from 'node:path';
import { printablePath } from '../../../permissions/printable-path.ts';
import { describeHooks, projectHooks } from '../../../tools/hooks/project-hooks.ts';
import type { ProjectPart, ProjectPlaces } from './project-places.ts';
import type { FoundFiles } from './read-agent-files.ts';

/** The hooks that a project brings (docs/hooks.md). */
export function readHookFiles({ folder, home, trust }: ProjectPlaces): FoundFiles<ProjectPart> {
  const found = projectHooks(folder, home).map(({ path, hooks, hash, faults }) => ({
    ...{ kind: 'hooks' as const, path, source: printablePath(relative(folder, path)), hash, faults },
    ...{ trust: trust.stateOf(path, hash), about: describeHooks(hooks) },
  }));
  return {
    files: found.filter(({ about }) => about !== ''),
    notices: found.flatMap(({ source, faults }) => faults.map((fault) => `${source}: ${fault}`)),
  };
}
