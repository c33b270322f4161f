// Proves where files are looked for if a variable is set to nothing, or to a relative path, which would lead into the folder in which agents work.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cacheFolder } from '../../../src/settings/cache-folder.cjs';
import { configFile, configFolder, dataFolder } from '../../../src/settings/folders.ts';
import { MAIN } from '../../house/program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { makeHome } from '../run-cli.ts';

it('an empty variable, or a relative one of the desktop, counts as unset', () => {
  const usual = configFile(undefined, {});
  for (const env of [{ COPPICE_CONFIG: '' }, { XDG_CONFIG_HOME: '' }, { XDG_CONFIG_HOME: 'etc' }])
    assert.deepEqual(configFile(undefined, env), usual, JSON.stringify(env));
  for (const folder of ['', '.', '../data', 'data'])
    assert.equal(dataFolder({ XDG_DATA_HOME: folder }), dataFolder({}), folder);
  assert.equal(cacheFolder({ XDG_CACHE_HOME: 'cache' }), cacheFolder({}));
  assert.ok(dataFolder({}).startsWith(homedir()) && configFolder({}).startsWith(homedir()));
});

it('what is named is taken as it is', () => {
  assert.deepEqual(configFile('etc/mine.json', {}), { file: 'etc/mine.json', explicit: true });
  assert.deepEqual(configFile(undefined, { COPPICE_CONFIG: 'mine.json' }), {
    file: 'mine.json',
    explicit: true,
  });
});

it('~ is the home folder, also where a shell leaves it: behind =, in a variable, in a request', async () => {
  const home = makeHome();
  mkdirSync(join(home.folder, 'x'));
  const rules = join(home.folder, 'rules.json');
  writeFileSync(rules, JSON.stringify({ rules: [{ say: 'done' }] }));
  writeFileSync(join(home.folder, 'x', 'c.json'), JSON.stringify({ model: `scripted:${rules}` }));
  const env = { ...home.env, COPPICE_CONFIG: '~/x/c.json' };
  const ran = await home.run(['run', 'go', '--cwd=~/x'], { env });
  assert.equal(ran.code, 0, ran.stderr);
  const shown = await home.run(['show', '--cwd=~/x', '--config=~/x/c.json']);
  assert.match(shown.stdout, new RegExp(`^folder +${join(home.folder, 'x')}$`, 'm'), shown.stderr);
  const kept = await home.run(['export', '--cwd=~/x', '--out=~/x/tree.md', '--markdown']);
  assert.equal(kept.code, 0, kept.stderr);
  assert.ok(existsSync(join(home.folder, 'x', 'tree.md')));
});

describe('a program', () => {
  /** Folders that it has found when it ends; `before` runs first. */
  function found(env: NodeJS.ProcessEnv, before = ''): { readonly home: string; readonly temp: string } {
    const says = 'console.error(JSON.stringify({ home: os.homedir(), temp: os.tmpdir() }))';
    const code = `import os from 'node:os';${before};process.once('beforeExit', () => ${says})`;
    const { stderr } = spawnSync(
      process.execPath,
      [`--import=data:text/javascript,${encodeURIComponent(code)}`, MAIN, '--version'],
      { encoding: 'utf8', env: { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1', ...env } },
    );
    return JSON.parse(stderr) as ReturnType<typeof found>;
  }

  it('takes the home of the account if HOME is no absolute path: what is cached there is run', () => {
    for (const HOME of ['', '.', 'here'])
      assert.equal(found({ HOME }).home, userInfo().homedir, JSON.stringify(HOME));
    assert.equal(found({ HOME: '/elsewhere' }).home, '/elsewhere');
  });

  it('of a user without an account and without HOME starts, as in a container', () => {
    const none = `os.homedir = () => { if (process.env.HOME === undefined) throw Error('none'); return process.env.HOME }`;
    assert.equal(found({}, none).home, '/');
  });

  it('writes temporary files elsewhere if the folder for them is not there', () => {
    const there = temporaryFolder();
    assert.equal(found({ TMPDIR: there }).temp, there);
    for (const TMPDIR of [join(there, 'gone'), 'here', ''])
      assert.equal(found({ TMPDIR }).temp, '/tmp', TMPDIR);
  });
});
