/** Proves that user scripts fill the last line and notify when the person is needed, that their output is harmless, and that they end with the program. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { KEY, openUi } from './ui-stage.ts';

const ESC = '\u001b';
const FOCUS_LOST = `${ESC}[O`;

it('a script fills the last line, another one says what the terminal tells', async (test) => {
  const folder = temporaryFolder();
  const config = join(folder, 'config.json');
  const [told, slow] = [join(folder, 'told'), join(folder, 'slow')];
  const status = `read -r json; echo "$json" > ${told}; printf '\\033[31mred \\033]0;title\\007%s\\nsecond' "\${json##*\\"tokens\\":}"; [ -e ${slow} ] && { echo $$ > ${slow}; sleep 600; }; true`;
  writeFileSync(
    config,
    JSON.stringify({
      tui: {
        statusLine: { command: status },
        notify: { command: `read -r json; printf 'script: %s' "\${json##*\\"text\\":}"` },
      },
    }),
  );
  const rules = { rules: [{ calls: [{ name: 'bash', input: { command: 'echo hi' } }] }] };
  const ui = await openUi(test, rules, { args: ['--config', config] });
  await ui.pty.until(' red 0,"cost_usd"');
  ui.pty.send(FOCUS_LOST);
  await ui.say('go');
  await ui.pty.until(
    () => ui.pty.written().includes(`${ESC}]9;script: "an approval waits"}`),
    'the notification',
  );
  await ui.pty.until(
    () => /"approvals":1,.*}\n$/.test(readFileSync(told, 'utf8')),
    'it is told of the approval',
  );
  const { schema, agent, working } = JSON.parse(readFileSync(told, 'utf8'));
  assert.deepEqual(
    [schema, agent.name, agent.status, working],
    ['coppice/status-line/v1', 'main', 'waiting', 1],
  );
  assert.ok(!ui.shows('second') && !ui.pty.written().includes(`${ESC}]0;`));

  writeFileSync(slow, '');
  await ui.answer('n');
  // The denied call is requested again, so the document changes.
  await ui.pty.until(() => readFileSync(slow, 'utf8').endsWith('\n'), 'a script that hangs');
  await ui.press(KEY.ctrl_c, KEY.ctrl_c);
  await ui.press('k', KEY.enter);
  await ui.pty.ended;
  assert.throws(() => process.kill(Number(readFileSync(slow, 'utf8')), 0), /ESRCH/);
});
