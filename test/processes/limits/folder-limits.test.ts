/**
 * Proves that the /tmp of a tree, and the agent's folder where it has a limit, hold no more than they may, call by call and however it is written: what is
 * there is counted before each command, and in a full one commands can only remove. With real commands in the real sandbox.
 */
// Own process: one test puts another bubblewrap on the PATH.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import type { CommandLimits } from '../../../src/processes/limits/command-budget.ts';
import { folderUsage } from '../../../src/processes/limits/folder-usage.ts';
import { startPipedProgram } from '../../../src/processes/sandbox/piped-program.ts';
import type { Sandbox } from '../../../src/processes/sandbox/sandbox.ts';
import { sandboxGap } from '../../../src/processes/sandbox/sandbox-support.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, eventually, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from '../sandbox/test-sandbox.ts';
import { bubblewrapWithoutLandlock } from '../sandbox/without-landlock.ts';

const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
const { PATH } = process.env;
after(() => rmSync(place, { recursive: true, force: true }));

type Shell = (command: string) => Promise<string>;

/** Runs commands of one tree, each in a call of its own. */
function tree(limits: CommandLimits, sandbox: Sandbox | null = testSandbox(), cwd?: string): Shell {
  const tool = createBashTool(sandbox, limits) as Tool;
  const own = makeWorkspace();
  const context = { ...own, cwd: cwd ?? own.cwd };
  return async (command) => (await call(tool, { command, timeout: 60 }, context)).output;
}

const write = (file: string, mb: number) => `head -c ${mb}M /dev/zero > ${file}`;
const KB_IN_TMP = 'du -sk /tmp | cut -f1';

describe('the /tmp of a tree', { skip: NO_SANDBOX }, async () => {
  const gap = NO_SANDBOX ? null : await sandboxGap();

  it('takes what is left, and no more: the file that would exceed it is cut', async () => {
    const run = tree({ disk_mb: 20 });
    await run(write('/tmp/one', 15));
    assert.match(await run(write('/tmp/two', 15)), /File size limit exceeded|File too large/);
    const held = Number.parseInt(await run(KB_IN_TMP), 10);
    assert.ok(held > 19 * 1024 && held <= 20 * 1024, `${held} KB`);
  });

  it('takes nothing once it is full, call by call, while the folder of the agent does', {
    skip: gap ?? false,
    timeout: 60_000,
  }, async () => {
    const run = tree({ disk_mb: 20 });
    await run(write('/tmp/one', 10));
    await run(write('/tmp/zero', 30));
    const held = Number.parseInt(await run(KB_IN_TMP), 10);
    for (const command of [
      write('/tmp/two', 5),
      'mkdir /tmp/folder',
      'for i in 1 2 3; do : > /tmp/f$i; done',
      'mkfifo /tmp/pipe',
      'ln -s x /tmp/link',
      'ln /tmp/one /tmp/twice',
      'echo x >> /tmp/one',
      'truncate -s 1G /tmp/one; echo x > /tmp/one',
      `${write('/dev/shm/x', 1)}; mv /dev/shm/x /tmp/`,
    ]) {
      const said = await run(command);
      assert.match(said, /Permission denied/, command);
      assert.match(
        said,
        /\[\/tmp held \d+ MB on disk; its limit is 20 MB\. Until it holds less, commands can only read and remove files there: delete what is not needed\. A person can raise "sandbox\.limits\.disk_mb" in the configuration\]/,
      );
    }
    assert.equal(Number.parseInt(await run(KB_IN_TMP), 10), held);
    assert.match(await run(`${write('mine', 5)} && mv /tmp/one ./one && ls`), /^mine\none\n/);
    assert.equal(await run(`${write('/tmp/two', 5)} && echo room`), 'room\n');
  });

  it('does not grow with every burst of small files', async () => {
    const run = tree({ disk_mb: 20 });
    const burst = 'd=/tmp/$$-$RANDOM; mkdir $d && for i in $(seq 60); do head -c 1M /dev/zero > $d/$i; done';
    for (let round = 0; round < 3; round += 1) await run(burst);
    const held = Number.parseInt(await run(KB_IN_TMP), 10);
    assert.ok(held > 19 * 1024, `${held} KB`);
    for (let round = 0; round < 3; round += 1) await run(burst);
    const then = Number.parseInt(await run(KB_IN_TMP), 10);
    // Without Landlock, each command that fails may leave an empty folder.
    assert.ok(then - held < 64, `${held} KB, then ${then} KB`);
  });

  it('stops a long command that fills it, whatever else it wrote', async () => {
    const run = tree({ disk_mb: 60 });
    const said = await run('for i in $(seq 1000); do head -c 1M /dev/zero > /tmp/f$i; sleep 0.01; done');
    assert.match(said, /\[stopped: (it used|\/tmp held) \d+ MB on disk; its limit is 60 MB\./);
  });

  it('is full when it holds too many files, and is not when they are gone', async () => {
    const run = tree({ files: 1000 });
    await run('mkdir /tmp/many && cd /tmp/many && seq 1500 | xargs touch');
    const said = await run('mkdir /tmp/more');
    assert.match(said, /\/tmp held 1001 files and folders; its limit is 1000\. .* "sandbox\.limits\.files"/);
    if (gap === null) assert.match(said, /Permission denied/);
    assert.match(await run('rm -rf /tmp/*'), /1001 files/);
    assert.equal(await run('mkdir /tmp/more && echo room'), 'room\n');
  });

  it('counts files of names that are no text, and is full when something in it cannot be counted', async () => {
    const run = tree({ disk_mb: 20 });
    await run(`cd /tmp && mkdir $'\\xff' && ${write("$'\\xff/\\xfe'", 30)}`);
    assert.match(await run('true'), /\/tmp held 20 MB/);
    const deep = tree({ disk_mb: 20 });
    await deep(
      `cd /tmp; n=$(printf 'x%.0s' $(seq 250)); for i in $(seq 20); do mkdir $n && cd $n; done; ${write('f', 5)}`,
    );
    assert.match(
      await deep('true'),
      /\/tmp held a folder that cannot be looked into; .*delete what is not needed/,
    );
    assert.match(await deep('rm -rf /tmp/x*'), /cannot be looked into/);
    assert.equal(await deep('echo room > /tmp/a; cat /tmp/a'), 'room\n');
  });

  it('counts what files take, not how long they seem, and a file of several names once', async () => {
    const run = tree({ disk_mb: 20 });
    assert.equal(
      await run(
        `truncate -s 15M /tmp/holes; ${write('/tmp/a', 8)}; ln /tmp/a /tmp/b; ln /tmp/a /tmp/c; echo done`,
      ),
      'done\n',
    );
    assert.equal(await run(`${write('/tmp/d', 8)} && echo done`), 'done\n');
  });

  it('is not filled by space that is reserved without writing', async () => {
    const run = tree({ disk_mb: 20 });
    assert.match(await run('for i in 1 2 3 4 5; do fallocate -l 10M /tmp/f$i; done'), /not supported/);
    assert.match(
      await run(
        `python3 -c "import os; os.posix_fallocate(os.open('/tmp/a', os.O_CREAT | os.O_RDWR), 0, 1 << 20); print('written')"; ${KB_IN_TMP}`,
      ),
      /^written\n10\d\d\n/,
    );
  });

  it('is full without Landlock, too: commands write to no file then, and make room', async (test) => {
    const bin = mkdtempSync(join(place, 'bin-'));
    bubblewrapWithoutLandlock(bin);
    process.env.PATH = `${bin}:${PATH}`;
    test.after(() => Object.assign(process.env, { PATH }));
    const run = tree({ disk_mb: 20 });
    await run(write('/tmp/one', 30));
    const said = await run(write('/tmp/two', 5));
    assert.match(said, /File size limit exceeded|File too large/);
    assert.match(said, /commands can write to no file, only remove some/);
    assert.match(await run('rm /tmp/one'), /^\n?\[no output\]|\/tmp held/);
    assert.equal(await run(`${write('/tmp/two', 5)} && echo room`), 'room\n');
  });

  it('of a program that stays is in memory, within its limit', async () => {
    const program = await startPipedProgram({
      ...{ file: 'bash', args: ['-c', `${write('/tmp/f', 20)}; df -m --output=size /tmp | tail -1`] },
      ...{
        env: { PATH: PATH ?? '' },
        cwd: makeWorkspace().cwd,
        sandbox: testSandbox(),
        limits: { disk_mb: 8 },
      },
    });
    let said = '';
    program.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    assert.match(await program.gone, /No space left on device/);
    assert.ok(await eventually(() => said.trim() === '8'), said);
  });
});

describe("the agent's folder", { skip: process.platform === 'linux' ? false : 'reads /proc' }, () => {
  const own = (): string => mkdtempSync(join(place, 'folder-'));
  const WAYS: Readonly<Record<string, readonly [Sandbox | null, folder: () => string]>> = {
    'without the sandbox': [null, own],
    ...(NO_SANDBOX
      ? {}
      : {
          'in the sandbox': [testSandbox(), own],
          'in the sandbox, in a place that cannot be closed': [testSandbox(), () => makeWorkspace().cwd],
        }),
  };
  for (const [how, [sandbox, folder]] of Object.entries(WAYS))
    it(`holds no more than it may: ${how}`, async () => {
      const cwd = folder();
      const run = tree({ folder_mb: 20 }, sandbox, cwd);
      await run(write('one', 15));
      assert.match(await run(write('two', 15)), /exceeded|too large/);
      const said = await run(`${write('three', 5)} && echo more`);
      assert.match(said, /held \d+ MB on disk; its limit is 20 MB\. .*"sandbox\.limits\.folder_mb"/);
      assert.doesNotMatch(said, /^more/m);
      assert.ok((await folderUsage({ path: cwd, files: 1000 })).mb < 21);
      await run('rm two');
      assert.equal(await run(`${write('three', 2)} && echo room`), 'room\n');
    });
  it('as a limit, is told to a command that meets it', async () => {
    const run = tree({ folder_mb: 20 }, null, own());
    await run(write('one', 15));
    const said = await run(write('two', 15));
    assert.match(
      said,
      /a file may have at most \d MB now, because \/.* can take no more: delete what is not needed there/,
    );
  });
});

describe('counting', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(place, 'count-'));
  });

  it('agrees with what du says, of a folder of everything', async () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    writeFileSync(join(folder, 'a/b/file'), Buffer.alloc(3_000_000, 1));
    linkSync(join(folder, 'a/b/file'), join(folder, 'again'));
    writeFileSync(join(folder, 'holes'), 'x');
    truncateSync(join(folder, 'holes'), 50_000_000);
    writeFileSync(
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xc3])]),
      Buffer.alloc(200_000, 1),
    );
    const [bytes] = execFileSync('du', ['-s', '-B1', folder], { encoding: 'utf8' }).split('\t');
    const [own] = execFileSync('stat', ['-c', '%b', folder], { encoding: 'utf8' }).split('\n');
    const usage = await folderUsage({ path: folder, files: Infinity });
    assert.deepEqual(usage, { mb: (Number(bytes) - Number(own) * 512) / 2 ** 20, files: 5 });
  });

  it('ends beyond the limit, and a folder that is not there holds nothing', async () => {
    for (let file = 0; file < 20; file += 1) writeFileSync(join(folder, `${file}`), '');
    assert.equal((await folderUsage({ path: folder, files: 7 })).files, 8);
    assert.deepEqual(await folderUsage({ path: join(folder, 'gone'), files: 7 }), { mb: 0, files: 0 });
  });
});
