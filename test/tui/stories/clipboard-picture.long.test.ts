/** Proves that Ctrl-V attaches the picture in the clipboard of the desktop, and says where there is none. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openUi } from './ui-stage.ts';

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

it('a picture is mentioned in the draft and sent with it; without one, that is said and the draft stays', async (test) => {
  const programs = temporaryFolder();
  const clipboard = (program: string, script: string) =>
    writeFileSync(join(programs, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  for (const program of ['wl-paste', 'xclip', 'osascript']) clipboard(program, 'echo no picture; exit 1');
  const env = { PATH: `${programs}:${process.env.PATH}` };
  const ui = await openUi(test, { rules: [{ say: 'I see it.' }] }, { env });
  const { pty } = ui;
  pty.send('look: ');
  await ui.press('\x16');
  await pty.until('no picture in the clipboard of this machine');
  clipboard('xclip', `printf '${PICTURE}' | base64 -d`);
  await ui.press('\x16');
  const draft = () => pty.screen().join('').replaceAll(/\s/g, '');
  await pty.until(() => /look:@\S+clipboard\.png/.test(draft()), 'the mention');
  await ui.press('\r');
  await pty.until('I see it.');
  const sent = await ui.ledger(async (store) =>
    JSON.stringify(await store.history((await store.agents({}))[0]?.id ?? '')),
  );
  assert.ok(sent.includes(PICTURE.slice(0, 40)), sent.slice(0, 2_000));
});
