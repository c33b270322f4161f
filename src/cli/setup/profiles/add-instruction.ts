import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { printablePath } from '../../../permissions/printable-path.ts';
import { projectFolders } from '../../../processes/working-folder.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { readInstructionFiles, USUAL_NAMES } from './instruction-files.ts';
import type { ProfilesInput } from './profiles.ts';
import { projectPlaces } from './project-places.ts';

/** Where a line goes that a person adds to the instructions of a project: into the nearest file, or else a new one in the outermost folder. Throws `E_REFUSED`. */
export function instructionPlace(input: ProfilesInput) {
  const places = projectPlaces(input);
  const names = input.loaded.configuration.instructions?.files ?? USUAL_NAMES;
  const { files, notices } = readInstructionFiles(places, names);
  const nearest = files.findLast(({ trust }) => trust !== 'own') ?? null;
  const [outermost = places.folder] = projectFolders(places.folder, places.home);
  const path = nearest?.path ?? join(outermost, names[0] ?? 'AGENTS.md');
  if (nearest === null && existsSync(path))
    throw new CoppiceError(
      'E_REFUSED',
      `nothing was added: ${notices.join('; ') || `${path} cannot be read`}`,
    );
  const shown = printablePath(relative(places.folder, path) || path);
  return { path, nearest, shown: nearest === null ? `${shown} (a new file)` : shown, places, names };
}

/** Adds the line. What was trusted, and a new file, is trusted with it, because the person wrote it. Returns what people are told. */
export function addInstruction(input: ProfilesInput, line: string): string {
  const { path, nearest, shown, places, names } = instructionPlace(input);
  const before = nearest === null ? '' : readFileSync(path, 'utf8');
  appendFileSync(path, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`);
  const now = readInstructionFiles(places, names).files.find((file) => file.path === path);
  const keeps = nearest === null || nearest.trust === 'trusted';
  if (keeps && now !== undefined) places.trust.accept(path, now.hash, Date.now());
  const cut = now?.cut === true ? ' It is too long: agents get only its beginning.' : '';
  return keeps
    ? `added to ${shown}: conversations that begin from now on read it.${cut}`
    : `added to ${shown}, which agents do not read until you trust it: coppice trust.${cut}`;
}
