// Proves that the gate is red, and says which program is missing, where the tests of the terminal, the dashboard, the sandbox or stepping clocks would be skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';

const GATE = join(import.meta.dirname, '../../.ci/run');
const PROGRAMS = { tmux: 'tmux', chromium: 'chromium', bubblewrap: 'bwrap', faketime: 'faketime' };
const SHELL = ['bash', 'dirname', 'tail', 'cat', 'env', 'chmod'];

function found(name: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? `/bin/${name}`;
}

/** Runs the gate with only these programs on PATH, besides an npm that writes down what it is asked; `apt`: the script that stands for apt-get. */
function gate(programs: readonly string[], apt: string | null, user = 0) {
  const folder = temporaryFolder();
  const path = join(folder, 'bin');
  mkdirSync(path);
  for (const name of SHELL) symlinkSync(found(name), join(path, name));
  const put = (name: string, script: string) =>
    writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  put('id', `echo ${user}`);
  put('npm', `echo "$*" >> '${folder}/npm'`);
  for (const name of programs) put(name, 'exit 0');
  if (apt !== null) put('apt-get', apt);
  const env = { PATH: path };
  const { status, stdout, stderr } = spawnSync(GATE, [], { env, encoding: 'utf8' });
  const asked = existsSync(join(folder, 'npm')) ? readFileSync(join(folder, 'npm'), 'utf8') : '';
  return { status, stdout, stderr, asked };
}

const all = Object.values(PROGRAMS);
const without = (program: keyof typeof PROGRAMS) => all.filter((name) => name !== PROGRAMS[program]);
const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];

it('runs every check and every suite where all programs are there', () => {
  const { status, asked, stderr } = gate(all, null);
  assert.equal(status, 0, stderr);
  for (const run of ['ci', 'lint', 'types', 'floors', 'unused', 'test', 'test:promptly', 'test:long'])
    assert.match(asked, new RegExp(`(^| )${run}( |$)`, 'm'));
});

for (const program of names) {
  it(`is red without ${program}, and runs nothing`, () => {
    for (const [apt, user, reason] of [
      [null, 0, /there is no apt-get/],
      ['exit 0', 1000, /only root/],
      ['echo "E: Unable to locate package" >&2; exit 100', 0, /E: Unable to locate package$/m],
      ['exit 0', 0, /it was installed, but does not start/],
    ] as const) {
      const { status, stderr, asked } = gate(without(program), apt, user);
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`^the gate is red: ${program} is not installed`, 'm'));
      assert.match(stderr, reason);
      assert.equal(asked, '');
      assert.equal(stderr.trim().split('\n').length, 1);
    }
  });

  it(`goes on once ${program} could be installed`, () => {
    const apt = `case "$1" in install) p="$(dirname "$0")/${PROGRAMS[program]}"; echo '#!/bin/sh' > "$p"; chmod 755 "$p" ;; esac`;
    const { status, asked, stderr } = gate(without(program), apt);
    assert.equal(status, 0, stderr);
    assert.match(asked, /^ci /m);
  });
}

it('names every program that is missing', () => {
  const { status, stderr } = gate([], null);
  assert.equal(status, 1);
  for (const program of names) assert.match(stderr, new RegExp(`^the gate is red: ${program} `, 'm'));
});
