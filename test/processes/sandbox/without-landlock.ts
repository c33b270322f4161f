import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Puts a `bwrap` into the folder to which the kernel answers that it has no Landlock, as an old one does: by a filter for this one system call. */
export function bubblewrapWithoutLandlock(folder: string, bubblewrap = '/usr/bin/bwrap'): void {
  const prctl = process.arch === 'arm64' ? 167 : 157;
  const path = join(folder, 'bwrap');
  writeFileSync(
    path,
    `#!/usr/bin/perl
my $lines = join '', map { pack 'SCCL', @$_ } [0x20, 0, 0, 0], [0x15, 0, 1, 444], [6, 0, 0, 0x50026], [6, 0, 0, 0x7fff0000];
my $program = pack 'Sx6P', 4, $lines;
syscall(${prctl}, 38, 1, 0, 0, 0) == 0 && syscall(${prctl}, 22, 2, $program) == 0 or die;
exec '${bubblewrap}', @ARGV;
`,
  );
  chmodSync(path, 0o755);
}
