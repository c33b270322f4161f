// Proves that `coppice __complete` knows commands, flags and choices, finds ids and names in the right ledger, and that a request changes, reveals and creates
// nothing.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { completeWords } from '../../../src/cli/completion/complete-words.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { newAgent, newRoot, stepOf } from '../../store/ledger-fixture.ts';
import { type Home, makeHome } from '../run-cli.ts';
import { homeWithIds, IDS } from './completion-home.ts';

let home: Home;
before(async () => {
  home = await homeWithIds();
});

describe('coppice __complete', () => {
  it('prints values with descriptions, one per line; help does not list it', async () => {
    const result = await home.run(['__complete', 'approvals', 'allow', '']);
    assert.deepEqual(result, {
      code: 0,
      signal: null,
      stdout: `${IDS.ask}\tmain: bash rm -rf dist now\n`,
      stderr: '',
    });
    assert.equal((await home.run(['--help'])).stdout.includes('__complete'), false);
  });

  it('commands and flags with what they are for, choices, and where the shell completes a path', async () => {
    const commands = await completeWords([''], home.env);
    assert.ok(commands.includes('ps\tList living agents'));
    assert.deepEqual(await completeWords([], home.env), commands);
    assert.deepEqual(await completeWords(['ps', '--al'], home.env), [
      '--all\tinclude ended agents and sub-agents',
    ]);
    assert.deepEqual(await completeWords(['run', '--thinking=m'], home.env), ['--thinking=medium\t']);
    assert.deepEqual(await completeWords(['ps', '--tree=1'], home.env), [
      `--tree=${IDS.root}\tmain, running: hello`,
    ]);
    assert.deepEqual(await completeWords(['--config', 'x'], home.env), [':file\t']);
    assert.deepEqual(await completeWords(['--database=sqlite:x'], home.env), [':file\t--database=sqlite:']);
    assert.deepEqual(await completeWords(['trust', ''], home.env), [':folder\t']);
  });

  it('is silent about everything that goes wrong', async () => {
    const broken = join(home.folder, 'broken.db');
    writeFileSync(broken, 'no database, and long enough to look like one '.repeat(30));
    const silent: (readonly [number | null, string, string])[] = [];
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await home.run(['__complete', ...words]);
      silent.push([code, stdout, stderr]);
    };
    await run('show', '--database', broken, '');
    await run('show', '--database', 'mysql://x/y', '');
    await run('show', '--config', join(home.folder, 'nothing.json'), '');
    home.configure('{"oops"');
    await run('show', '');
    await run('run', '--profile', '');
    home.configure({});
    assert.deepEqual(
      silent,
      silent.map(() => [0, '', '']),
    );
  });

  it('creates no ledger and changes none', async () => {
    const empty = makeHome();
    const result = await empty.run(['__complete', 'show', '']);
    assert.deepEqual([result.code, result.stdout, result.stderr], [0, '', '']);
    assert.deepEqual(readdirSync(empty.folder).sort(), ['config', 'work']);
    const before_it = readFileSync(home.database);
    assert.equal((await completeWords(['show', '1'], home.env)).length, 1);
    assert.deepEqual(readFileSync(home.database), before_it);
  });

  it('takes the ledger of the flags, the environment, the configuration, in this order', async () => {
    const other = join(home.folder, 'other.db');
    const store = await openStore(other);
    await newRoot(store, {}, { id: IDS.run, name: 'elsewhere' });
    await store.close();
    const ids = async (words: readonly string[], over: NodeJS.ProcessEnv = {}) =>
      (await completeWords(words, { ...home.env, ...over })).map((line) => line.split('\t')[0]);
    assert.deepEqual(await ids(['show', '--database', other, '']), [IDS.run]);
    assert.deepEqual(await ids([`--database=sqlite:${other}`, 'show', '']), [IDS.run]);
    assert.deepEqual(await ids(['show', ''], { DATABASE_URL: `sqlite://${other}` }), [IDS.run]);
    assert.deepEqual(await ids(['show', '--database', home.database, '1'], { DATABASE_URL: other }), [
      IDS.root,
    ]);
    const server = 'http://127.0.0.1:1';
    assert.deepEqual(await ids(['show', '--server', server, '']), []);
    assert.deepEqual(await ids(['show', ''], { COPPICE_SERVER: server }), []);
    assert.deepEqual(await ids(['show', '--database', other, ''], { COPPICE_SERVER: server }), [IDS.run]);
    home.configure({ database: other });
    assert.deepEqual(await ids(['show', '']), [IDS.run]);
    home.configure({});
    assert.deepEqual(await ids(['show', '1']), [IDS.root]);
  });

  it('at most 50, the living first', async () => {
    const many = join(home.folder, 'many.db');
    const store = await openStore(many);
    const root = await newRoot(store, { children: 100, live: 100 }, { name: 'root' });
    const created = Array.from({ length: 60 }, (_, index) =>
      newAgent(root, {
        name: `n${index}`,
        ...(index >= 30 ? { state: { type: 'killed', by: 'you', at: 1 } as never } : {}),
      }),
    );
    const verdicts = await store.commit([stepOf(root, { create: created })]);
    assert.equal(verdicts[0]?.ok, true);
    await store.close();
    const lines = await completeWords(['show', '--database', many, ''], home.env);
    assert.equal(lines.length, 50);
    assert.deepEqual(
      lines.map((line) => line.endsWith(', dead')),
      lines.map((_, index) => index > 30),
    );
    assert.equal((await completeWords(['kill', '--database', many, ''], home.env)).length, 31);
  });
});
