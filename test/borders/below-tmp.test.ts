/** Proves that programs which people keep below /tmp start in the sandbox, whose /tmp is another folder, and that commands are told where theirs are not. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startPipedProgram } from '../../src/processes/sandbox/piped-program.ts';
import { createBashTool } from '../../src/tools/bash.ts';
import { NO_SANDBOX, testSandbox } from '../processes/sandbox/test-sandbox.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

const place = mkdtempSync('/tmp/coppice-below-');
const work = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
after(() => {
  for (const folder of [place, work, elsewhere]) rmSync(folder, { recursive: true });
});

function file(path: string, text: string): string {
  const whole = join(place, path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, text);
  chmodSync(whole, 0o755);
  return whole;
}

const hello = "console.log('hello ' + require('node:fs').readdirSync('/tmp').length)";
file('package/package.json', '{}');
file('package/lib/said.js', hello);
file('plain/said.js', hello);
const linked = join(place, 'package/linked');
symlinkSync(file('package/bin/run.js', "#!/usr/bin/env node\nrequire('../lib/said.js')"), linked);
const elsewhere = mkdtempSync('/tmp/coppice-below-');
writeFileSync(join(elsewhere, 'secret.txt'), 'canary');

const STARTS: readonly (readonly [what: string, file: string, args: readonly string[]])[] = [
  ['a program', file('program', '#!/bin/sh\necho hello'), []],
  ['a script', 'node', [file('single.js', hello)]],
  ['a script with a file beside it', 'node', [file('plain/main.js', "require('./said.js')")]],
  ['a script of a package', 'node', [file('package/bin/main.js', "require('../lib/said.js')")]],
  ['a link to a program of a package', linked, []],
  ['a program in a folder of programs', file('tool/bin/said', '#!/bin/sh\n. $(dirname $0)/../lib/words'), []],
];
file('tool/lib/words', 'echo hello');

describe('below /tmp, in the sandbox', { skip: NO_SANDBOX }, () => {
  for (const [what, program, args] of STARTS)
    it(`${what} starts`, async () => {
      const env = { PATH: process.env.PATH ?? '' };
      const running = await startPipedProgram({
        file: program,
        args,
        env,
        cwd: work,
        sandbox: testSandbox(),
      });
      let said = '';
      running.stdout.on('data', (chunk) => {
        said += chunk;
      });
      assert.match(`${said}${await running.gone}${said}`, /exit code 0/);
      assert.match(said, /^hello/);
    });

  it('what else is there stays hidden, and its absence is explained', async () => {
    const script = file('reads.js', `require('node:fs').readFileSync('${join(elsewhere, 'secret.txt')}')`);
    const env = { PATH: process.env.PATH ?? '' };
    const running = await startPipedProgram({
      file: 'node',
      args: [script],
      env,
      cwd: work,
      sandbox: testSandbox(),
    });
    const gone = await running.gone;
    assert.match(
      gone,
      /exit code 1.*the sandbox does not show \/tmp\/\S+, since its \/tmp is another folder.*sandbox\.read/s,
    );
  });

  it('a command is told what is only in the other /tmp, and how to show it', async () => {
    const context = { ...makeWorkspace(), cwd: work };
    const script = file('only.sh', 'echo hello');
    const run = (command: string, read: readonly string[] = []) =>
      call(createBashTool(testSandbox({ read })), { command }, context);
    const missed = await run(`bash ${script}`);
    assert.match(
      missed.output,
      new RegExp(
        `does not show ${script}, since its /tmp is another folder.*"sandbox.read": \\["${script}"\\]`,
      ),
    );
    assert.match((await run(`bash ${script}`, [script])).output, /^hello/);
    const own = await run('echo "exit 3" > /tmp/own.sh; bash /tmp/own.sh; cat /tmp/none');
    assert.doesNotMatch(own.output, /does not show/);
  });
});
