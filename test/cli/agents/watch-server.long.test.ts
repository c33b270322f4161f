// Proves that `ps --watch --server` follows the trees of a server by its events, in lines and on a terminal, answers their questions there, and reports when
// the server goes away and comes back.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { MAIN } from '../../house/program.ts';
import { openPty } from '../../tui/terminal/pty.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

it('tells what changes, takes answers, and outlasts the server', async (test) => {
  const home = makeHome();
  const model = ['--model', 'scripted:rules.json'];
  const rules = [
    { when: { user: '^ask', step: 0 }, calls: [{ name: 'bash', input: { command: 'ls -l' } }] },
    { say: 'Heard: {{user}}' },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const serve = async (port: string) => {
    const server = home.start(['serve', '--listen', port, ...model]);
    test.after(() => server.child.kill('SIGKILL'));
    let log = '';
    server.child.stderr?.on('data', (piece: Buffer) => {
      log += piece.toString();
    });
    await until(() => /listening on (\S+);/.test(log), 'a server');
    return { ...server, url: /listening on (\S+);/.exec(log)?.[1] ?? '' };
  };
  const server = await serve('0');
  const { url } = server;
  await home.run(['run', 'the first', ...model]);
  const lines = home.start(['ps', '--watch', '--server', url]);
  let told = '';
  lines.child.stdout?.on('data', (text: string) => {
    told += text;
  });
  const pty = openPty(process.execPath, [MAIN, 'ps', '--watch', '--server', url], {
    ...{ columns: 100, rows: 30, cwd: home.work, env: home.env },
  });
  test.after(() => pty.end());
  await pty.until('the first');
  await until(() => /the first: /.test(told), 'what there is');
  const asks = home.start(['run', '--ask', 'ask me', ...model]);
  await until(() => /ask me: ! .*bash ls -l/.test(told), 'that it waits');
  await pty.until('1 waiting for you');
  // The question is listed above the selected tree.
  for (const key of ['\x1b[A', '\x1b[A', ' ']) pty.send(key);
  await pty.until('main wants: bash');
  await pty.until('y once   s bash:ls *');
  await new Promise((resolve) => setTimeout(resolve, 800));
  pty.send('y');
  await pty.until('Heard: ask me');
  assert.equal((await asks.ended).stdout, 'Heard: ask me\n');
  pty.send('\r');
  await pty.until('read it: coppice logs -f');
  await until(() => /ask me: ○ idle/.test(told), 'that it rests');

  server.child.kill('SIGTERM');
  await server.ended;
  await pty.until('unreachable');
  await until(() => told.includes('is unreachable'), 'that it is gone');
  await serve(new URL(url).port);
  await home.run(['run', 'the last', ...model]);
  await pty.until('the last');
  await until(() => /the last: /.test(told), 'what is new');
  pty.send('\x03');
  assert.equal((await pty.ended).exitCode, 0);
  lines.child.kill('SIGINT');
  const { code, stderr } = await lines.ended;
  assert.deepEqual([code, stderr], [0, '']);

  const nobody = await home.run(['ps', '--watch', '--server', 'http://127.0.0.1:9']);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /is unreachable/);
});
