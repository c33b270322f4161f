// Proves that protected places are found in every spelling that some file system takes for theirs, and that similar names are free.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { protectedPart, selfRunningPart, unreadablePlace } from '../../src/permissions/protected-path.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('settings of the runtime and files of git', () => {
  for (const path of [
    '.git/config',
    'sub/.GIT/hooks/x',
    'sub\\.Git\\config',
    '.git./config',
    '.git  /config',
    '.g\u200bit/config',
    '.\uff47\uff49\uff54/config',
    '.g\u0131t/../.git/x',
    'GIT~1/config',
    '.COPPICE/settings.json',
    '.coppi\uff43e/settings.json',
    'home/.Config/Coppice/keys.json',
    'Library/Application Support/Coppice/x',
    'AppData\\Local\\COPPICE\\x',
  ])
    assert.notEqual(protectedPart(path), undefined, path);
  for (const path of [
    'git/config',
    '.github/x',
    '.gitignore',
    'a.git/config',
    '.config/coppices/x',
    'coppice/x',
  ])
    assert.equal(protectedPart(path), undefined, path);
});

it('what editors and tools run by themselves, also in a folder below', () => {
  for (const path of [
    '.idea/runConfigurations/a.xml',
    '.idea/runconfigurations/a.xml',
    '.IDEA/RUNCONFIGURATIONS/a.xml',
    'sub/.husky/pre-commit',
    'sub\\.VSCode\\tasks.json',
    '.vscode/ta\uff53ks.json',
    'Lefthook.YML',
  ])
    assert.notEqual(selfRunningPart(path, []), undefined, path);
  assert.equal(selfRunningPart('.idea/workspace.xml', []), undefined);
  assert.equal(selfRunningPart('.husky/pre-commit', ['.husky']), undefined, 'the user opened it');
  assert.notEqual(selfRunningPart('.vscode/tasks.json', ['.husky']), undefined, 'and nothing else');
});

it('the keys of a settings folder, however their name is written, and no other file of that name', () => {
  const [settings, other] = [temporaryFolder(), temporaryFolder()];
  const store = { kind: 'sqlite', location: join(other, 'ledger.db') } as const;
  const place = { settings: [join(settings, 'none'), settings], store, spill_dir: join(other, 'spill') };
  for (const name of ['keys.json', 'KEYS.JSON', 'Keys.json'])
    assert.notEqual(unreadablePlace(name, settings, place), undefined, name);
  assert.equal(unreadablePlace('keys.json', other, place), undefined);
  assert.equal(unreadablePlace('keys.json.txt', settings, place), undefined);
});
