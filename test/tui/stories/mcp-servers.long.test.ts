/** Proves that a person sees the MCP servers of the folder, and logs in to one of them, without leaving the conversation. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { startHttpServer } from '../../servers/mcp-http-server.ts';
import { OAuthServer } from '../../servers/oauth-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openUi } from './ui-stage.ts';

after(closeOpened);

it('servers are listed with what they are, and a login is told, made and kept', async (test) => {
  const http = await startHttpServer({ oauth: new OAuthServer() });
  closeLater(() => http.close());
  const config = join(temporaryFolder(), 'config.json');
  const servers = { files: { command: 'files-server', args: ['.'] }, web: { url: http.url } };
  writeFileSync(config, JSON.stringify({ mcp: { servers } }));
  const ui = await openUi(test, { rules: [{ say: 'Hello.' }] }, { args: ['--config', config] });
  await ui.say('/mcp');
  await ui.pty.until(
    () => ui.shows('files-server .') && ui.shows(http.url),
    'both servers, and what they are',
  );
  assert.ok(!ui.shows('needs a login'), 'nobody has tried it');
  await ui.say('hello');
  await ui.pty.until('Hello.');
  await ui.say('/mcp');
  await ui.pty.until('web needs a login: /mcp login web');
  await ui.say('/mcp login files');
  await ui.pty.until('files is a program');
  await ui.say('/mcp login wev');
  await ui.pty.until('no MCP server that may be used is called "wev"');
  const page = async (): Promise<string> => {
    const mark = ui.pty.mark();
    await ui.say('/mcp login web');
    // All of it: the line over the input comes behind it.
    const shown = () =>
      /there:(http:[^─]+)─/.exec(stripVTControlCharacters(ui.pty.written(mark)).replaceAll(/\s/g, ''))?.[1];
    await ui.pty.until(() => shown() !== undefined, 'the page');
    return shown() ?? '';
  };
  const back = new URL((await fetch(await page(), { redirect: 'manual' })).headers.get('location') ?? '');
  back.searchParams.set('code', 'expired');
  assert.match(await (await fetch(back)).text(), /did not let you log in/);
  await ui.pty.until('web did not let you log in: invalid_grant');
  // The library writes about this to standard error: above the input, not into it.
  await ui.pty.until(() => ui.pty.screen().some((line) => line.startsWith('[mcp-sdk] OAuth')), 'its line');
  const answer = await fetch(await page());
  assert.match(await answer.text(), /you can close this page/);
  await ui.pty.until('logged in to web');
  await ui.say('/clear');
  await ui.pty.until('a new conversation');
  await ui.say('/mcp');
  await ui.pty.until(() => ui.pty.screen().some((line) => /web +config +used/.test(line)), 'the login');
});
