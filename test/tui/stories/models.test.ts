/** Proves that a person can choose the model of the agent in view, and of a conversation before it begins. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

it('/model switches the agent in view, for good, and lists what there is', async (test) => {
  const ui = await openUi(test, { rules: [{ say: 'The first heard {{user}}' }] });
  const { pty } = ui;
  writeFileSync(
    join(ui.folder, 'other.json'),
    JSON.stringify({ rules: [{ say: 'The second heard {{user}}' }] }),
  );
  const other = `scripted:${join(ui.folder, 'other.json')}`;
  await ui.say('one');
  await pty.until('The first heard one');
  await ui.say('/model rules');
  await pty.until('no model "rules". /model lists what is configured.');
  await ui.say(`/model ${other}`);
  await pty.until('from now on');
  await ui.say('two');
  await pty.until('The second heard two');
  await ui.say('/model');
  await pty.until(() => pty.screen().some((line) => /▸ scripted:.*other.json +in use by main/.test(line)));
  await ui.press('-', '-', 'm');
  await pty.until(() => pty.screen().some((line) => /▸ scripted:.*rules.json +--model/.test(line)));
  await ui.press(KEY.enter);
  await ui.inView('0 main');
  await ui.say('three');
  await pty.until('The first heard three');
  await ui.say('/new');
  await ui.gone('[0 main');
  await ui.say(`/model ${other}`);
  await pty.until('the conversation begins with scripted:');
  await ui.say('four');
  await pty.until('The second heard four');
});
