// Proves that JSON files which an editor saved with a byte order mark, as those of Windows do, are read like others: the configuration (also where one key of
// it is read or changed), rules of the scripted model, servers and hooks of a folder.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

it('files with a byte order mark', async () => {
  const home = makeHome();
  const write = (name: string, content: object) =>
    writeFileSync(join(home.work, name), `\ufeff${JSON.stringify(content)}`);
  const database = join(home.folder, 'other.db');
  home.configure(`\ufeff${JSON.stringify({ model: 'scripted:rules.json', database })}`);
  write('rules.json', { rules: [{ say: 'read' }] });
  write('.mcp.json', { mcpServers: { near: { command: 'a-server' } } });
  mkdirSync(join(home.work, '.claude'));
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'a-check' }] }] };
  write('.claude/settings.json', { hooks });
  const ran = await home.run(['run', 'go', '--name', 'marked']);
  assert.deepEqual([ran.code, ran.stdout], [0, 'read\n'], ran.stderr);
  const { stdout: completed } = await home.run(['__complete', 'show', 'mar']);
  assert.match(completed, /^marked\b/m);
  const { stdout: asked } = await home.run(['trust']);
  assert.match(asked, /a-server/);
  assert.match(asked, /a-check/);
  const added = await home.run(['mcp', 'add', 'far', '--untried', '--', 'another-server']);
  assert.equal(added.code, 0, added.stderr);
  const { stdout: listed } = await home.run(['mcp', 'list']);
  assert.match(listed, /far/);
});
