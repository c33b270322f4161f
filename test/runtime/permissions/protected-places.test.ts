/** Proves that no writing tool changes a settings file or a ledger, wherever the agent's folder is, by any path, and even before the file exists. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, it } from 'node:test';
import { protectedPlace } from '../../../src/permissions/protected-path.ts';
import type { AgentConfig } from '../../../src/records/agent/agent.ts';
import { createModelHost } from '../../../src/settings/agent-program-host.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { closeOpened } from '../../close-opened.ts';
import { makeFolder } from '../project-folder.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

const ANYTHING = { cli: { allow: ['*'], ask: [], deny: [] }, config: { allow: [], ask: [], deny: [] } };

it('an agent that works in the folder of the settings cannot reach them', async (t) => {
  const home = makeFolder({ 'project/.coppice/agents/a.md': '', 'other/config.json': '{}' });
  mkdirSync(join(home, '.config'));
  symlinkSync('.config', join(home, 'link'));
  const database = join(home, 'project', 'work.db');
  const store = await openStore(`sqlite:${database}`);
  t.after(() => store.close());
  const settings = [
    join(home, 'xdg', 'coppice'),
    join(home, 'other', 'config.json'),
    join(home, 'data', 'coppice'),
  ];
  const around = { store, settings, spill_dir: join(home, 'data', 'coppice', 'output') };
  const refused: readonly (readonly [folder: string, path: string])[] = [
    ['.config', 'coppice/config.json'],
    ['.config', './x/../coppice/agents/a.md'],
    ['.', '.config/coppice/config.json'],
    ['.', 'link/coppice/config.json'],
    ['xdg/coppice/agents', 'a.md'],
    ['xdg', 'Coppice/config.json'],
    ['.', 'xdg/coppice/config.json'],
    ['.', 'xdg/coppice/rules.json'],
    ['other', 'config.json'],
    ['data/coppice', 'trust.json'],
    ['data', 'coppice/output/trees/a/output.txt'],
    ['project/.coppice/agents', 'b.md'],
    ['project/.coppice', 'b.md'],
    ['project', 'work.db'],
    ['project', 'work.db-wal'],
    ['.', 'project/work.db-journal'],
    ['project', '.git/hooks/pre-commit'],
  ];
  for (const [folder, path] of refused) {
    mkdirSync(join(home, folder), { recursive: true });
    const host = createModelHost(
      {
        config: {
          tools: ['write'],
          permissions: ANYTHING,
          cwd: join(home, folder),
        } as unknown as AgentConfig,
        root_id: 'root',
      },
      { env_allow: [], ...around },
    );
    const before = existsSync(join(home, folder, path));
    const answer = await host.writeFile(path, 'x');
    assert.match(answer.ok ? 'written' : answer.error, /protected/, `${folder} ${path}`);
    assert.equal(existsSync(join(home, folder, path)), before);
  }
  // Worktrees are in the data folder but may be written; files beside protected ones, or with similar names, are not protected.
  const worktree = join(around.spill_dir, 'worktrees', 'a');
  mkdirSync(worktree, { recursive: true });
  for (const [cwd, path] of [
    [worktree, 'src/a.ts'],
    [join(home, '.config'), 'other/config.json'],
    [join(home, 'other'), 'config.json.txt'],
    [join(home, 'project'), 'work.dbx'],
  ] as const)
    assert.equal(protectedPlace(join(realpathSync(cwd), path), cwd, around), undefined, path);
});

it('keys in the folder of the settings cannot be read either; another file of that name can', async (t) => {
  const home = makeFolder({ 'xdg/coppice/keys.json': '{"A_KEY":"secret"}', 'project/keys.json': '{}' });
  const store = await openStore(`sqlite:${join(home, 'work.db')}`);
  t.after(() => store.close());
  const around = { store, settings: [join(home, 'xdg', 'coppice')], spill_dir: join(home, 'output') };
  const host = createModelHost(
    {
      config: { tools: ['read'], permissions: ANYTHING, cwd: home } as unknown as AgentConfig,
      root_id: 'root',
    },
    {
      env_allow: [],
      ...around,
    },
  );
  const read = async (path: string) => {
    const answer = await host.readFile(path);
    return answer.ok ? 'read' : answer.error;
  };
  for (const path of ['xdg/coppice/keys.json', 'xdg/Coppice/../coppice/keys.json'])
    assert.doesNotMatch(await read(path), /^read$/, path);
  assert.match(await read('xdg/coppice/keys.json'), /keys are protected/);
  assert.equal(await read('project/keys.json'), 'read');
});

it('a missing settings file is protected by its resolved folder; a ledger on a server is no file', () => {
  const home = realpathSync(makeFolder({ 'actual/a.txt': '' }));
  symlinkSync('actual', join(home, 'alias'));
  const server = { kind: 'postgres', location: 'postgres://host/ledger' } as const;
  const around = { store: server, settings: [join(home, 'alias', 'new', 'config.json')], spill_dir: home };
  assert.match(
    protectedPlace(join(home, 'actual', 'new', 'config.json'), home, around) ?? 'free',
    /settings/,
  );
  assert.equal(protectedPlace(resolve(server.location), home, around), undefined);
});

it('tool calls are refused in the same way', async () => {
  const on = await setStage(
    ({ step }) =>
      step > 0
        ? 'done'
        : [
            ['write', { path: 'ledger.db', content: 'x' }],
            ['write', { path: 'ledger.db-wal', content: 'x' }],
            ['patch', { path: 'ledger.db', edits: [{ old_text: 'SQLite', new_text: 'x' }] }],
            ['write', { path: 'free.txt', content: 'x' }],
          ],
    { tools: createBuiltInTools() },
  );
  const { root } = await on.perform();
  const results = await on.results(root);
  for (const { output } of results.slice(0, 3)) assert.match(output, /the ledger is protected/);
  assert.equal(results[3]?.status, 'ok', results[3]?.output);
});

it('what editors and tools run by themselves is not written, in no folder below either, unless the user opened it', async () => {
  const running = [
    '.vscode/tasks.json',
    'packages/a/.VSCode/./settings.json',
    '.husky/pre-commit',
    '.mcp.json',
  ];
  const free = ['.vscode/extensions.json', 'docs/vscode/tasks.json', 'mcp.json'];
  const on = await setStage(
    ({ step }) =>
      step > 0 ? 'done' : [...running, ...free].map((path) => ['write', { path, content: 'x' }] as const),
    { tools: createBuiltInTools() },
  );
  const { root } = await on.perform();
  const results = await on.results(root);
  for (const [at, path] of running.entries())
    assert.match(
      results[at]?.output ?? '',
      /run this file by themselves: only with "sandbox.unprotect"/,
      path,
    );
  for (const [at, path] of free.entries()) assert.equal(results[running.length + at]?.status, 'ok', path);
  const home = makeFolder({ 'project/a': '' });
  const around = {
    store: { kind: 'postgres', location: '' },
    spill_dir: join(home, 'output'),
    env_allow: [],
  } as const;
  const config = { tools: ['write'], permissions: ANYTHING, cwd: join(home, 'project') };
  const agent = { config: config as unknown as AgentConfig, root_id: 'root' };
  const write = async (path: string, unprotected: readonly string[]) => {
    const bounds = { sandbox: null, limits: null, unprotected };
    const answer = await createModelHost(agent, { ...around, bounds }).writeFile(path, 'x');
    return answer.ok ? 'written' : answer.error;
  };
  assert.match(await write('.vscode/tasks.json', ['.vscode/settings.json']), /run this file by themselves/);
  assert.equal(await write('.vscode/tasks.json', ['.vscode']), 'written');
});
