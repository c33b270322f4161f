/** Proves the sandbox for a user who is not root and has programs in a home folder: root can do what others cannot, e.g. join the network of a sandbox. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ToolResult } from '../../../src/records/tool.ts';
import { bundledProgram } from './bundled-program.ts';
import { NO_SANDBOX } from './test-sandbox.ts';

const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

describe('in the sandbox of a user who is not root', { skip: NO_SANDBOX }, () => {
  // A folder that other users may enter, which may not hold for that of this project.
  const home = mkdtempSync('/var/tmp/coppice-test-');
  const work = join(home, 'work');
  let [node, runner] = ['', ''];
  const server = createServer((_, answer) => answer.end('reached'));
  let port = 0;

  before(async () => {
    [node, runner] = await bundledProgram(join(import.meta.dirname, '../limits/run-bombs.ts'), home);
    mkdirSync(work);
    mkdirSync(join(home, 'bin'));
    symlinkSync('/bin/bash', join(home, 'bin/bash'));
    if (user.uid !== undefined) for (const path of [home, work]) chownSync(path, user.uid, user.gid);
    port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  });
  after(() => {
    server.close();
    rmSync(home, { recursive: true });
  });

  const run = async (asked: object): Promise<ToolResult[]> => {
    const { stdout } = await promisify(execFile)(node, [runner, JSON.stringify(asked)], {
      cwd: work,
      env: { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home },
      ...user,
    });
    return JSON.parse(stdout);
  };

  it('the hosts that are allowed are reached, every time, and no other', async () => {
    const ask = (host: string) => `id -u; curl -s -m 5 --noproxy "" http://${host}:${port}/`;
    for (const mode of ['workspace', 'strict']) {
      const commands = [...Array(5).fill(ask('127.0.0.1')), ask('127.0.0.2')];
      const outputs = (await run({ mode, hosts: [`127.0.0.1:${port}`], commands })).map(
        ({ output }) => output,
      );
      const [denied] = outputs.splice(-1);
      assert.deepEqual(outputs, Array(5).fill(`${user.uid ?? process.getuid?.()}\nreached`), mode);
      assert.match(denied ?? '', /the sandbox does not allow 127\.0\.0\.2:/);
    }
  });

  it('a strict one runs the shell of the system where the first on the PATH is in the home folder', async () => {
    const [result] = await run({ mode: 'strict', commands: ['echo "$0 runs"; command -v bash; ls ~'] });
    const [runs, found, ...inside] = result?.output.split('\n') ?? [];
    assert.deepEqual([runs, ...inside], ['bash runs', 'work', 'work-output', '']);
    assert.ok(found?.endsWith('/bash') && !found.startsWith(home), found);
  });
});
