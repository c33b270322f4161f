/** Proves that a person can attach files to a message by name, sees what is attached, cannot attach what rules deny, and can address an agent by its name. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { KEY, openUi } from './ui-stage.ts';

it('a mention is completed, and what it names goes to the model with the message', async (test) => {
  const config = temporaryFolder();
  mkdirSync(join(config, 'coppice'));
  writeFileSync(
    join(config, 'coppice/config.json'),
    JSON.stringify({ agents: { defaults: { permissions: { deny: ['read:**/*.env'] } } } }),
  );
  const ui = await openUi(
    test,
    {
      rules: [
        {
          when: { user: 'const secret_word', step: 0, root: true },
          calls: [{ name: 'fork', input: { name: 'reader', prompt: 'be' } }],
        },
        { when: { agent: 'reader' }, say: 'reader heard: {{user}}' },
        { say: 'main is ready' },
      ],
    },
    { env: { XDG_CONFIG_HOME: config } },
  );
  const { pty, folder } = ui;
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/answer.ts'), 'const secret_word = 42;\n\nexport {};\n');
  writeFileSync(join(folder, 'prod.env'), 'KEY=1\n');
  pty.send('explain @answ');
  await pty.until('src/answer.ts');
  await ui.press('\t');
  await pty.until('> explain @src/answer.ts');
  await ui.press(KEY.enter);
  await pty.until('main is ready');
  const rows = pty.history();
  const said = rows.findIndex((row) => row.startsWith('> explain @src/answer.ts'));
  assert.equal(rows[said + 1], '  + src/answer.ts 3 lines');
  assert.ok(!rows.some((row) => row.includes('secret_word')), 'its text is not shown');

  await ui.say('and @prod.env with @src/');
  await pty.until('not sent: prod.env: denied by the rule deny(read:**/*.env)');
  await pty.until('> and @prod.env with @src/');
  await ui.press(KEY.ctrl_c);
  await ui.say('@reader good morning');
  await pty.until('sent to reader');
  await ui.press(KEY.alt(1));
  await pty.until('reader heard: good morning');
  assert.deepEqual(
    await ui.ledger(async (store) => {
      const main = (await store.agents({})).find(({ name }) => name === 'main');
      const messages = await store.history(main?.id ?? '');
      return messages.flatMap((one) =>
        one.kind === 'user' && one.content.origin === 'human' ? [one.content.text.split('\n')[0]] : [],
      );
    }),
    ['explain @src/answer.ts'],
  );
});
