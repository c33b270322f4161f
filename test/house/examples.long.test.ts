// Proves that the examples run as shipped, here on the sources, and print what they promise.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { CORE_EXAMPLES } from './core-examples.ts';

function run(example: string, cwd = process.cwd()): string {
  const file = join(import.meta.dirname, '..', '..', 'examples', example);
  return execFileSync(process.execPath, ['--conditions=coppice-source', file], {
    cwd,
    encoding: 'utf8',
    timeout: 110_000,
  });
}

it('examples/library.ts', () => {
  const out = run('library.ts');
  assert.match(out, /^\+ main\n\+ oak\n\+ hazel\n/);
  assert.match(out, /oak has 3 letters\. hazel has 5 letters\./);
});

it('examples/review-service.ts', () => {
  const out = run('review-service.ts', temporaryFolder());
  assert.match(out, /^lead: idle\n/);
  assert.match(out, /\nmerge: false, because server\.ts is never closed\n$/);
});

it('examples/sessions.ts', () => {
  const out = run('sessions.ts');
  assert.match(out, /^User: What's the history of XFS\?/);
  assert.match(
    out,
    /\nSystem event: \[Subagent: xfs-research\] Complete\.\n\n--- … from a sub-agent, not from the user\nXFS was developed by Silicon Graphics/,
  );
  assert.match(out, /\nstatus +. completed\n/);
});

it('examples/workflow.ts', () => {
  const said = 'oak leaks: yes, hazel leaks: yes (4 succeeded, 0 failed)';
  assert.equal(run('workflow.ts'), `first: ${said}\nsecond: ${said}\n`);
});

it('examples/fanout.ts', () => {
  const out = run('fanout.ts');
  assert.match(out, /^ {2}security: A password stands in the source:\n {4}src\/auth\/login\.ts:1:/m);
  assert.match(out, /\n5 questions, 12 sub-agents\.\n$/);
});

it('examples/slash.ts', () => {
  const out = run('slash.ts');
  assert.match(out, /^Parallel research\n\+ main\n\+ research-approach-a-\S+\n\+ research-approach-b-/m);
  assert.match(out, /^! main: got mail from research-approach-/m);
  assert.match(out, /^= Both: .*(cookies; signed tokens|tokens; sessions in cookies)$/m);
  assert.match(out, /^✉ analyze-the-database-schema → fork-\S+: The tables: users\+orders$/m);
  assert.match(out, /^= Both: .*the API serves The tables: users\+orders/m);
});

it('examples/delegate.ts', () => {
  const out = run('delegate.ts');
  assert.match(out, /^oak: starts \(spawn\)\ngrove: starts \(spawn\)\n/);
  assert.match(out, /^grove: calls subagent_spawn .*\nhazel: starts \(spawn\)$/m);
  assert.match(
    out,
    /^hazel: done after 2 turns\n(.*\n)*grove: subagent_spawn gave "the hazel has 50 rings"$/m,
  );
  assert.match(
    out,
    /^main: the oak has 30 rings\n\n\[Did: 1 tool call \(rings 1\); .*\]\n\nin the grove, the hazel has 50 rings$/m,
  );
  assert.match(out, /ash: done after 2 turns\n$/);
});

it('examples/mixed.ts', () => {
  const out = run('mixed.ts');
  assert.match(
    out,
    /^\+ main \(root.*\n {2}\+ lead \(fork.*\n {4}\+ oak \(spawn.*\n {4}\+ hazel \(spawn.*\n {6}\+ .*\(delegate, acp:gardener\)\n/,
  );
  assert.match(out, /An oak is 40 m tall\..*A hazel is 6 m tall\./);
});

for (const [file, output] of Object.entries(CORE_EXAMPLES))
  it(`examples/core/${file}`, () => assert.match(run(`core/${file}`, temporaryFolder()), output));
