// Proves that commands of files are read again only after a change: a new file, another text, another answer of a server.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { AppContext } from '../../../src/tui/app-context.ts';
import { CalledCommands } from '../../../src/tui/commands/saved/called-commands.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agent } from '../ui-fixture.ts';

it('lists commands from memory until a file changes', () => {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  const data_folder = temporaryFolder();
  const commands = join(folder, '.coppice', 'commands');
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, 'look.md'), 'Look.');
  const { config } = agent('main', null);
  mkdirSync(join(folder, '.coppice', 'workflows'));
  writeFileSync(
    join(folder, '.coppice', 'workflows', 'cost.js'),
    "export const meta = { name: 'cost', description: 'Counts' };",
  );
  // Asked whenever a workflow is read.
  let read = 0;
  const accepts = () => {
    read += 1;
    return false;
  };
  const said: string[] = [];
  const app = {
    say: (text: string) => said.push(text),
    state: { view: null, root_id: null },
    options: { data_folder, trust: { home, accepts } },
    placeOf: () => ({ folder, config: { ...config, cwd: folder } }),
    runtime: { offers: async () => null },
  };
  const called = new CalledCommands(app as unknown as AppContext);
  const helps = () => called.rows().map(({ label, help }) => `${label} ${help}`);
  const first = called.rows();
  assert.deepEqual(helps(), ['/look Look. (.coppice/commands/look.md)']);
  assert.equal(called.rows()[0], first[0], 'nothing was read again');
  assert.equal(read, 1);
  for (const name of ['cost', 'status', 'cost']) called.tellHidden(name);
  assert.equal(read, 1, 'nor for a command of the program');
  assert.deepEqual(said.length, 1, said.join());
  assert.match(said[0] ?? '', /^\/cost is a command of Coppice\./);
  writeFileSync(join(commands, 'look.md'), 'Look twice.');
  assert.deepEqual(
    helps(),
    ['/look Look twice. (.coppice/commands/look.md)'],
    'another text in the same folder',
  );
  writeFileSync(join(commands, 'add.md'), 'Add.');
  assert.equal(helps().length, 2, 'a new file');
  const [again] = called.rows();
  assert.equal(called.rows()[0], again);
  rmSync(join(commands, 'look.md'));
  assert.deepEqual(helps(), ['/add Add. (.coppice/commands/add.md)']);
  writeFileSync(join(data_folder, 'trust.json'), '{}');
  assert.ok(called.rows().length > 0);
  assert.equal(read, 5, 'what is trusted may have changed');
});
