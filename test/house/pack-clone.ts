import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Packs, into the folder, the files that a clone would have, in their current state; dependencies are shared with this clone. Returns the path of the package. */
export function packClone(folder: string): string {
  const run = (program: string, args: readonly string[], cwd: string) =>
    execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const clone = join(folder, 'clone');
  mkdirSync(clone);
  const list = join(folder, 'files');
  writeFileSync(list, run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], root));
  run('tar', ['-C', root, '--null', '-T', list, '-cf', join(folder, 'clone.tar')], folder);
  run('tar', ['-xf', join(folder, 'clone.tar')], clone);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  run('npm', ['pack', '--silent', '--pack-destination', folder], clone);
  return join(folder, 'coppice-0.1.0.tgz');
}
