/** Proves that a key opens the dashboard: its one-time link is shown and opened, and without a server the person is told how to start one. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

it('/web says that no server runs; Ctrl-X w opens the link of the one that does', async (test) => {
  const folder = temporaryFolder();
  const opened = join(folder, 'opened');
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
  chmodSync(join(folder, 'xdg-open'), 0o755);
  const servers = () => {
    const tokens = join(folder, 'coppice', 'server');
    return existsSync(tokens) ? readdirSync(tokens).filter((name) => name.endsWith('.json')) : [];
  };
  const env = { PATH: `${folder}:${process.env.PATH}`, XDG_DATA_HOME: folder };
  const ui = await openUi(test, { rules: [{ say: 'ok' }] }, { env, columns: 160 });
  await ui.say('/web');
  await ui.pty.until('no server runs on this ledger: start one in another terminal, coppice ');
  ui.beside('serve', '--listen', '0');
  await until(async () => servers().length === 1, 'a server');
  await ui.press(KEY.leader, 'w');
  await ui.pty.until('the dashboard, with a one-time link: http://127.0.0.1:');
  const shown = /http:\/\/\S+\/login#\S+/.exec(ui.pty.screen().join(' '))?.[0] ?? '';
  // The shell creates the file before it writes to it.
  await until(async () => existsSync(opened) && readFileSync(opened, 'utf8') !== '', 'a browser');
  assert.equal(readFileSync(opened, 'utf8'), shown);
  assert.equal(
    (
      await fetch(shown.replace(/#.*/, ''), {
        method: 'POST',
        headers: { 'coppice-code': shown.split('#')[1] ?? '' },
      })
    ).status,
    200,
  );
});
