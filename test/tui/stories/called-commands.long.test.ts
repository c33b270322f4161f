/**
 * Proves in a real terminal that files, workflows and prompts of MCP servers are commands of the person: completed, shown with their source, run only with consent, never
 * instead of a command of the program; that resources are attached; and that `#` adds a line to AGENTS.md once it is confirmed.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openUi } from './ui-stage.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'servers', 'mcp-offers.ts');
const RULES = { rules: [{ when: { root: true }, say: 'Main heard: {{user}}' }] };

it('commands of files and of MCP servers, and lines for AGENTS.md', async (test) => {
  const first = await openUi(test, RULES);
  const project = join(first.folder, 'proj');
  const commands = join(project, '.claude', 'commands');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(commands, { recursive: true });
  mkdirSync(join(project, '.coppice', 'workflows'), { recursive: true });
  writeFileSync(
    join(commands, 'look.md'),
    '---\nargument-hint: [file]\ndescription: Looks at it\n---\nLook at $1: !`touch made; echo out of it`',
  );
  writeFileSync(join(commands, 'cost.md'), 'of the project');
  writeFileSync(
    join(project, '.coppice', 'workflows', 'agents.js'),
    "export const meta = { name: 'agents', description: 'Reads' };",
  );
  const docs = { command: process.execPath, args: [SERVER, 'old'], sandbox: 'off' };
  writeFileSync(join(first.folder, 'coppice', 'config.json'), JSON.stringify({ mcp: { servers: { docs } } }));
  await first.say('/quit');
  const ui = await first.again(['--cwd', project]);
  const { pty } = ui;
  pty.send('/loo');
  await pty.until('/look [file]');
  await pty.until('Looks at it (.claude/commands/look.md)');
  await ui.press('\x03');
  await ui.say('/look a.ts');
  await pty.until('Run the commands of /look, as shown above?');
  assert.match(
    pty.screen().join('\n'),
    /\/look is \.claude\/commands\/look\.md\n.*it would run, in .*\n +touch made; echo out of it/,
  );
  await ui.press('n', '\r');
  await ui.gone('Run the commands');
  assert.equal(existsSync(join(project, 'made')), false);
  await ui.say('/look a.ts');
  await pty.until('Run the commands of /look');
  await ui.press('y', '\r');
  await pty.until('Main heard: Look at a.ts: [the output of touch made; echo out of it is attached]');
  await pty.until('+ output of touch made; echo out of it');
  assert.equal(existsSync(join(project, 'made')), true);

  await ui.say('/cost');
  await pty.until('/cost is a command of Coppice. Rename the other one to call it: of the project');
  await pty.until('this turn');
  await ui.say('/agents');
  await pty.until('Enter open');
  await ui.press('\x1b');
  await pty.until('/agents is a command of Coppice.');

  await ui.say('/docs:review a.ts style=terse');
  await pty.until('is a prompt of the MCP server docs');
  await pty.until('Main heard: Review a.ts in the style: terse.');
  await pty.until('+ docs image/png picture');
  await ui.say('/docs:none');
  await pty.until('/docs:daily-stand-up');
  pty.send('read @docs:docs://g');
  await pty.until('@docs:docs://guide');
  await ui.press('\t');
  await ui.say('now');
  await pty.until('+ @docs:docs://guide 54 characters');

  await ui.say('#Run the tests first');
  await pty.until('Add the line "Run the tests first" to AGENTS.md (a new file)?');
  assert.equal(existsSync(join(project, 'AGENTS.md')), false);
  await ui.press('y', '\r');
  await pty.until('added to AGENTS.md (a new file)');
  assert.equal(readFileSync(join(project, 'AGENTS.md'), 'utf8'), 'Run the tests first\n');
  await ui.say('/new');
  await pty.until('a new conversation');
  await ui.say('hello');
  await pty.until('Main heard: hello');
  const agents = await ui.ledger((store) => store.agents({ conversations: true }));
  assert.match(agents[0]?.config.instructions ?? '', /Run the tests first/);
});

it('a skill of the folder says why it is not called, until it is trusted and a conversation has it', async (test) => {
  const first = await openUi(test, RULES);
  const project = join(first.folder, 'proj');
  const skill = join(project, '.claude', 'skills', 'release');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), '---\ndescription: How to release\n---\nTag it.\n');
  await first.say('/quit');
  const ui = await first.again(['--cwd', project]);
  const { pty } = ui;
  await ui.say('/release 1.2');
  await pty.until('/release is the skill .claude/skills/release, which is not trusted');
  ui.coppice('trust', '--yes', '--cwd', project);
  await ui.say('/new');
  await ui.say('/release 1.3');
  await pty.until('/release is a skill');
  await pty.until('The task: 1.3');
  writeFileSync(join(skill, 'SKILL.md'), '---\ndescription: How to release\n---\nPush it.\n');
  await ui.say('/new');
  await ui.gone('[0 main]');
  await ui.say('/release 1.4');
  await pty.until('since this conversation began');
  await ui.say('/relaese');
  await pty.until('no command /relaese');
});
