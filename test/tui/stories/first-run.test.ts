/** Proves what a person without a model key sees: a choice, the demo to its end, or how to go on; nothing is sent anywhere. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openPty, type Pty } from '../terminal/pty.ts';
import { KEY, MAIN } from './ui-stage.ts';

function begin(test: TestContext, args: readonly string[] = [], more: NodeJS.ProcessEnv = {}): Pty {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'some.md'), 'TODO: words\n');
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, ...more };
  const pty = openPty(
    process.execPath,
    [MAIN, '--database', `sqlite:${join(folder, 'ledger.db')}`, ...args],
    {
      columns: 100,
      rows: 30,
      cwd: folder,
      env,
    },
  );
  test.after(() => pty.end());
  return pty;
}

async function asked(test: TestContext): Promise<Pty> {
  const pty = begin(test);
  await pty.until('No model key found. Nothing was sent anywhere.');
  for (const choice of ['1  Watch a 20-second demo', '2  Add a key', '3  Use a local model'])
    assert.ok(pty.screen().some((line) => line.includes(choice)));
  return pty;
}

it('choices 2 and 3 say how to continue and exit with the code for missing credentials', async (test) => {
  for (const [keys, told] of [
    [['2'], 'export ANTHROPIC_API_KEY='],
    [[KEY.down, KEY.down, KEY.enter], 'openai-compatible'],
  ] as const) {
    const pty = await asked(test);
    for (const key of keys) {
      pty.send(key);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await pty.until(told);
    assert.equal((await pty.ended).exitCode, 4);
    assert.ok(pty.modeOn(25) && !pty.modeOn(2004) && !pty.alternate);
  }
});

it('the demo is always marked as such, needs no answer, and reports', async (test) => {
  const pty = await asked(test);
  pty.send('1');
  await pty.until('SCRIPTED DEMO');
  await pty.until('wait 2m00 on 3 agents');
  await pty.until('SCRIPTED DEMO');
  pty.send(KEY.alt(1));
  await pty.until('[1 file-reader]');
  await pty.until('SCRIPTED DEMO');
  pty.send(KEY.alt(0));
  await pty.until('[0 main]');
  await pty.until('Report on this folder, by three agents');
  assert.ok(!pty.screen().some((line) => line.includes('wants:')), 'nothing is asked in a demo');
});

it('a terminal that can only print lines is asked and answers in lines', async (test) => {
  const pty = begin(test, [], { TERM: 'dumb' });
  await pty.until('1, 2 or 3, then Enter');
  pty.send('no idea\r');
  pty.send('2\r');
  await pty.until('export ANTHROPIC_API_KEY=');
  assert.equal((await pty.ended).exitCode, 4);
  const controls = [...pty.written()].filter((character) => character < ' ' && !'\r\n\t'.includes(character));
  assert.deepEqual(controls, []);
});

it('reports an invalid limit before anything is typed', async (test) => {
  const pty = begin(test, ['--model', 'scripted:none.json', '--limit', 'agents=5']);
  assert.equal((await pty.ended).exitCode, 2);
  assert.match(pty.history().join('\n'), /no limit called "agents"/);
});
