// Proves that a folder's agent files are read from that folder only, and that one bad file is reported and affects no other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import {
  parseAgentFiles,
  readProjectAgentFiles,
  readUserAgentFiles,
} from '../../../src/cli/setup/profiles/read-agent-files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('a folder of agent files', () => {
  const base = temporaryFolder();
  let [folder, agents] = ['', ''];
  beforeEach(() => {
    folder = mkdtempSync(join(base, 'work-'));
    agents = join(folder, '.coppice', 'agents');
    mkdirSync(agents, { recursive: true });
  });

  const read = () => parseAgentFiles(readProjectAgentFiles(folder));
  const names = () => read().profiles.map((profile) => profile.name);

  it('is read in the order of names; files other than *.md are ignored', () => {
    for (const name of ['b.md', 'a.md', 'c.txt', '.md', 'D.MD'])
      writeFileSync(join(agents, name), 'Be good.');
    mkdirSync(join(agents, 'below'));
    writeFileSync(join(agents, 'below', 'd.md'), 'Be good.');
    assert.deepEqual(names(), ['a', 'b']);
    assert.deepEqual(read().notices, []);
    assert.equal(read().profiles[0]?.source, '.coppice/agents/a.md');
  });

  it('may be missing', () => {
    rmSync(join(folder, '.coppice'), { recursive: true });
    assert.deepEqual(read(), { profiles: [], notices: [] });
    assert.deepEqual(readUserAgentFiles(join(folder, 'agents')), { files: [], notices: [] });
  });

  it('reports each bad file and reads the others', () => {
    writeFileSync(join(agents, 'good.md'), 'Be good.');
    writeFileSync(join(agents, 'wrong.md'), '---\nturns: many\n---\nx');
    writeFileSync(join(agents, 'twin.md'), '---\nname: good\n---\nx');
    writeFileSync(join(agents, 'other.md'), '---\ncolor: red\n---\nx');
    writeFileSync(join(agents, 'huge.md'), 'x'.repeat(64 * 1024 + 1));
    writeFileSync(join(agents, 'full.md'), 'x'.repeat(64 * 1024));
    mkdirSync(join(agents, 'folder.md'));
    symlinkSync(join(agents, 'nowhere'), join(agents, 'dangling.md'));
    symlinkSync('circle.md', join(agents, 'circle.md'));
    writeFileSync(join(agents, 'new\nline.md'), '');
    assert.deepEqual(names(), ['full', 'good', 'other']);
    const notices = read().notices.join('\n');
    for (const expected of [
      /^\.coppice\/agents\/wrong\.md is ignored: "turns" must be a whole number, 1 or more, not "many"$/m,
      /^\.coppice\/agents\/twin\.md is ignored: \.coppice\/agents\/good\.md already has the name good$/m,
      /^\.coppice\/agents\/other\.md: unknown key ignored: color$/m,
      /^\.coppice\/agents\/huge\.md is ignored: larger than 64 KB$/m,
      /^\.coppice\/agents\/folder\.md is ignored: not a regular file$/m,
      /^\.coppice\/agents\/dangling\.md is ignored: .*a dangling symbolic link$/m,
      /^\.coppice\/agents\/circle\.md is ignored: .*cycle$/m,
      /^"\.coppice\/agents\/new\\nline\.md" is ignored: it is empty$/m,
    ])
      assert.match(notices, expected);
    assert.equal(read().notices.length, 8);
  });

  it('does not hang on a pipe', { skip: process.platform === 'win32' }, () => {
    execFileSync('mkfifo', [join(agents, 'pipe.md')]);
    assert.deepEqual(read().notices, ['.coppice/agents/pipe.md is ignored: not a regular file']);
    assert.match(readUserAgentFiles(agents).notices[0] ?? '', /not a regular file/);
  });

  it('reports files that it has no permission to read', {
    skip: process.getuid?.() === 0 && 'the superuser reads everything',
  }, () => {
    writeFileSync(join(agents, 'closed.md'), 'x');
    chmodSync(join(agents, 'closed.md'), 0);
    assert.match(read().notices[0] ?? '', /permission denied$/);
  });

  it('is not escaped through a link, of a file or of itself', () => {
    const secret = join(base, 'secret.md');
    writeFileSync(secret, 'A secret.');
    writeFileSync(join(folder, 'notes.md'), 'Of the same repository.');
    symlinkSync(secret, join(agents, 'out.md'));
    symlinkSync('../../notes.md', join(agents, 'up.md'));
    writeFileSync(join(agents, 'good.md'), 'Be good.');
    symlinkSync('good.md', join(agents, 'also.md'));
    assert.deepEqual(names(), ['also', 'good']);
    assert.equal(read().notices.length, 2);
    for (const notice of read().notices) assert.match(notice, /(?:out|up)\.md is ignored: .*is outside/);
    const other = mkdtempSync(join(base, 'other-'));
    symlinkSync(join(folder, '.coppice'), join(other, '.coppice'));
    const { files, notices } = readProjectAgentFiles(other);
    assert.deepEqual(files, []);
    assert.match(notices[0] ?? '', /^\.coppice\/agents is ignored: .*is outside/);
  });

  it('of the user may contain links to wherever the user keeps such files', () => {
    const kept = join(base, 'kept.md');
    writeFileSync(kept, 'Kept elsewhere.');
    symlinkSync(kept, join(agents, 'mine.md'));
    const { profiles } = parseAgentFiles(readUserAgentFiles(agents));
    assert.equal(profiles[0]?.system, 'Kept elsewhere.');
    assert.equal(profiles[0]?.source, 'agents/mine.md');
  });

  it('has at most a hundred files', () => {
    for (let at = 0; at < 103; at += 1)
      writeFileSync(join(agents, `a${String(at).padStart(3, '0')}.md`), 'Be good.');
    const { profiles, notices } = read();
    assert.equal(profiles.length, 100);
    assert.equal(profiles.at(-1)?.name, 'a099');
    assert.deepEqual(notices, ['.coppice/agents has 103 files: only the first 100 by name are read']);
  });
});
