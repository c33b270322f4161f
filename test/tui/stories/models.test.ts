/** Proves that a person can choose the model of the agent in view or of a new conversation, sees what each has cost, and can export the text. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
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
  await ui.say('/effort much');
  await pty.until('the effort is off, low, medium, high');
  await ui.say('/effort high');
  await pty.until(() =>
    pty.screen().some((line) => line.startsWith(' Ctrl-X a') && line.includes('asks · high')),
  );
  await ui.say('/model');
  await pty.until('effort off low medium [high]');
  await ui.press('\x1b[D', '\x1b[D', '\x1b[D');
  await pty.until('effort [off] low medium high');
  await ui.press('\x1b[C', KEY.enter);
  await pty.until(() => pty.screen().some((line) => line.includes('asks · low')));
  const thinks = await ui.ledger(async (store) => (await store.agents({}))[0]?.config.thinking);
  assert.equal(thinks, 'low');
  await ui.say('/cost');
  await pty.until(() => pty.screen().some((line) => / out +1 request +this turn$/.test(line)));
  assert.ok(pty.screen().some((line) => / out +3 requests +in all$/.test(line)));
  assert.match(pty.screen().join('\n'), / out +1 request\s+scripted\S*other\.json$/m);
  await ui.say('/budget usd=3');
  await pty.until('tree: $0 of $3 used, $3 left');
  await ui.say('/budget tokens=500');
  await pty.until(() => pty.screen().some((line) => /\[0 main\].* · \d+ left ─/.test(line)));
  await ui.say('/budget usd=much');
  await pty.until('"usd=much" is not a valid budget');
  await ui.say('/export talk.md');
  await pty.until('written: ');
  assert.match(readFileSync(join(ui.folder, 'talk.md'), 'utf8'), /The second heard two/);
  await ui.say('/export md talk.md');
  await pty.until('it exists already');
  await ui.say('/new');
  await ui.gone('[0 main');
  await ui.say(`/model ${other}`);
  await pty.until('the conversation will begin with');
  await ui.say('four');
  await pty.until('The second heard four');
});
