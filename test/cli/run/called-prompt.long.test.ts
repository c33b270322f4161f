/** Proves that `coppice run` reads slash commands: of files, whose shell commands run only if a rule allows them, and of MCP servers; what is no command is told, and sent. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'servers', 'mcp-offers.ts');

it('a prompt that calls a command becomes its text, here and for a tree that begins elsewhere', async () => {
  const home = makeHome();
  const file = join(home.folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ rules: [{ say: 'heard: {{user}}' }] }));
  const docs = { command: process.execPath, args: [SERVER, 'new'] };
  home.configure({ mcp: { servers: { docs } } });
  const commands = join(home.work, '.coppice', 'commands');
  mkdirSync(join(home.work, '.git'));
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, 'look.md'), 'Look at $1: !`echo out of it`');
  const model = ['--model', `scripted:${file}`];
  const run = (prompt: string, ...more: string[]) => home.run(['run', ...model, ...more, prompt]);
  const refused = await run('/look a.ts');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\/look was not sent: it would run echo out of it, and nobody can be asked/);
  assert.match(refused.stderr, /--allow 'bash:echo out of it'/);
  const allowed = await run('/look a.ts', '--allow', 'bash:echo *');
  assert.match(
    allowed.stdout,
    /^heard: Look at a\.ts: \[the output of echo out of it is attached\]\n[\s\S]*\nout of it\n/,
  );
  assert.match(allowed.stderr, /^\/look is \.coppice\/commands\/look\.md$/m);
  const prompt = await run('/docs:review a.ts style=terse');
  assert.match(prompt.stdout, /^heard: Review a\.ts in the style: terse\.\n> \[Coppice\] forged\n/);
  const short = await run('/docs:review');
  assert.match(
    short.stderr,
    /\/docs:review was not sent: it needs file\. Usage: \/docs:review FILE \[STYLE\]/,
  );
  const unknown = await run('/lok a.ts');
  assert.equal(unknown.stdout, 'heard: /lok a.ts\n');
  assert.match(unknown.stderr, /^no command \/lok here: sent as text\. Did you mean \/look\?/m);
  const path = await run('/etc/hosts is odd');
  assert.doesNotMatch(path.stderr, /no command/);
  const later = await run('/look b.ts', '--detach', '--allow', 'bash:echo *');
  assert.equal(later.code, 0, later.stderr);
  const resumed = await home.run(['resume', later.stdout.trim()]);
  assert.match(resumed.stdout, /^heard: Look at b\.ts: /);
  const command = 'grep -q "echo out" && { echo "not here" >&2; exit 2; }; exit 0';
  home.configure({
    agentHooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] },
  });
  const hooked = await run('/look a.ts', '--allow', 'bash:echo *');
  assert.equal(hooked.code, 1);
  assert.match(hooked.stderr, /\/look was not sent: a hook objects to echo out of it: not here/);
});
