// Proves where files are looked for if a variable is set to nothing, or to a relative path, which would lead into the folder in which agents work.
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { it } from 'node:test';
import { configFile, configFolder, dataFolder } from '../../../src/settings/folders.ts';

it('an empty variable, or a relative one of the desktop, counts as unset', () => {
  const usual = configFile(undefined, {});
  for (const env of [{ COPPICE_CONFIG: '' }, { XDG_CONFIG_HOME: '' }, { XDG_CONFIG_HOME: 'etc' }])
    assert.deepEqual(configFile(undefined, env), usual, JSON.stringify(env));
  for (const folder of ['', '.', '../data', 'data'])
    assert.equal(dataFolder({ XDG_DATA_HOME: folder }), dataFolder({}), folder);
  assert.ok(dataFolder({}).startsWith(homedir()) && configFolder({}).startsWith(homedir()));
});

it('what is named is taken as it is', () => {
  assert.deepEqual(configFile('etc/mine.json', {}), { file: 'etc/mine.json', explicit: true });
  assert.deepEqual(configFile(undefined, { COPPICE_CONFIG: 'mine.json' }), {
    file: 'mine.json',
    explicit: true,
  });
});
