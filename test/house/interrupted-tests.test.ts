// Proves that a test run interrupted by Ctrl-C leaves no temporary folder behind, although no test file removes its own then; and that the next run removes
// what killed runs left in memory.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { memoryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const RUNNER = join(import.meta.dirname, '..', '..', 'scripts', 'test.ts');

it('interrupted while the command line is tested', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-interrupted-'));
  try {
    const { NODE_TEST_CONTEXT: _, COPPICE_TEST_FILE: __, ...env } = process.env;
    // A separate process group, to interrupt it as a terminal does.
    const runner = spawn(process.execPath, [RUNNER, 'test/cli/agents/wait.test.ts'], {
      env: { ...env, TMPDIR: folder },
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(runner, 'exit');
    await until(() => globSync('**/coppice-test-*', { cwd: folder }).length > 0, 'a test has its folder');
    process.kill(-(runner.pid as number), 'SIGINT');
    assert.notEqual((await ended)[0], 0);
    assert.deepEqual(readdirSync(folder), []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('the folder of a killed process is removed, that of a running one stays', async () => {
  const own = memoryFolder('test');
  const script = `import { memoryFolder } from ${JSON.stringify(new URL('../temporary-folder.ts', import.meta.url).href)};
    console.log(memoryFolder('test')); setInterval(() => 0, 1000);`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', script]);
  try {
    const [line] = (await once(other.stdout, 'data')) as [Buffer];
    const made = line.toString().trim();
    rmSync(memoryFolder('test'), { recursive: true });
    assert.ok(existsSync(made));
    other.kill('SIGKILL');
    await once(other, 'exit');
    rmSync(memoryFolder('test'), { recursive: true });
    assert.deepEqual([existsSync(made), existsSync(own)], [false, true]);
  } finally {
    other.kill('SIGKILL');
    rmSync(own, { recursive: true, force: true });
  }
});
