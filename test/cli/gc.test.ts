// Proves `coppice gc` from a user's point of view: what it announces, what it removes, what the archive holds, and what an interruption leaves behind.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { constants, gunzipSync } from 'node:zlib';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { letter, newAgent, said } from '../store/ledger-fixture.ts';
import { endLongAgo, oldRun, oldTree } from '../store/retention-fixture.ts';
import { type Home, makeHome } from './run-cli.ts';

const DAY_MS = 86_400_000;

interface Line {
  readonly type: string;
  readonly schema?: string;
  readonly tree?: { readonly root_id: string };
  readonly message?: { readonly agent_id: string };
}

/** Returns the lines of an archive, even of a truncated one. */
function linesOf(file: string): Line[] {
  const text = gunzipSync(readFileSync(file), { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('coppice gc', () => {
  let home: Home;
  let store: Store;
  before(async () => {
    home = makeHome();
    mkdirSync(join(home.folder, 'data', 'coppice'), { recursive: true, mode: 0o700 });
    store = await openStore(home.database);
  });
  after(async () => {
    await store.close();
  });

  /** Creates a tree that ended long ago, with a letter and a run. */
  const ended = async (): Promise<Agent> => {
    const root = await oldTree(store, { type: 'idle' }, { messages: [said('漢字 🎋')] });
    assert.ok((await store.send({ ...letter(root, root), from_id: null })).ok);
    await oldRun(store, root);
    await endLongAgo(store, root);
    return root;
  };

  it('says that nothing is old where nothing is', async () => {
    const { stdout, code } = await home.run(['gc']);
    assert.deepEqual([code, stdout], [0, 'nothing is old enough to be removed\n']);
  });

  it('removes spilled output that is old, whoever wrote it; what is new, and worktrees, stay', async () => {
    const output = join(home.folder, 'data', 'coppice', 'output');
    const write = (path: string, days: number): string => {
      const file = join(output, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'x'.repeat(60_000));
      const at = new Date(Date.now() - days * DAY_MS);
      utimesSync(file, at, at);
      return file;
    };
    const old = write('trees/a/output-1.txt', 31);
    const kept = [write('trees/b/output-2.txt', 31 - 2), write('worktrees/c/file', 90)];
    assert.equal(
      (await home.run(['gc', '--dry-run'])).stdout,
      'would remove 1 file of spilled output (0.1 MB)\n',
    );
    assert.ok(existsSync(old));
    const { stdout } = await home.run(['gc', '--json']);
    assert.deepEqual(JSON.parse(stdout).output, { files: 1, bytes: 60_000 });
    assert.equal(existsSync(dirname(old)), false);
    for (const file of kept) assert.ok(existsSync(file), file);
  });

  it('with --dry-run only says what it would remove', async () => {
    const root = await ended();
    const young = newAgent(null, { state: { type: 'idle' } });
    await store.createRoot(young, DEFAULT_LIMITS);
    await store.kill(young.agent.id, 'you', Date.now());
    const { stdout, code } = await home.run(['gc', '--dry-run', '--archive', 'never.gz']);
    assert.equal(code, 0);
    assert.match(stdout, /^TREE +NAME +STATUS +SINCE\n/);
    assert.ok(stdout.includes(root.id.slice(0, 8)) && !stdout.includes(young.agent.id.slice(0, 8)));
    assert.match(stdout, /\nwould remove 1 tree, 2 agents, 5 messages, 1 letter\n$/);
    assert.equal(existsSync(join(home.work, 'never.gz')), false);
    assert.ok(await store.agent(root.id));
    const json = JSON.parse((await home.run(['gc', '--dry-run', '--json', '--runs'])).stdout);
    assert.equal(json.schema, 'coppice/gc/v1');
    assert.deepEqual([json.dry_run, json.archive, json.removed.trees, json.removed.runs], [true, null, 1, 1]);
    assert.deepEqual(
      json.trees.map(({ root_id, status }: { root_id: string; status: string }) => [root_id, status]),
      [[root.id, 'completed']],
    );
    assert.ok(Math.abs(Date.parse(json.before) - (Date.now() - 30 * DAY_MS)) < DAY_MS);
  });

  it('removes it, and keeps it all in an archive that only its owner may read', async () => {
    const [old] = (await store.agents({ conversations: true })).filter(
      ({ state }) => state.type === 'completed',
    );
    assert.ok(old);
    const history = await store.history(old.id);
    const file = join(home.work, 'old.jsonl.gz');
    const { stdout, code } = await home.run(['gc', '--archive', 'old.jsonl.gz']);
    assert.equal(code, 0);
    assert.match(stdout, /removed 1 tree, 2 agents, 5 messages, 1 letter\nkept in old\.jsonl\.gz\n$/);
    assert.equal(await store.agent(old.id), null);
    assert.equal((await store.runs({ root_id: old.id })).length, 1, 'the run history stays');
    assert.equal(statSync(file).mode & 0o077, 0);
    const lines = linesOf(file);
    assert.deepEqual(
      [lines[0]?.type, lines[0]?.schema, lines.at(-1)],
      ['archive', 'coppice/archive/v1', { type: 'end', entries: lines.length - 2 }],
    );
    const messages = lines.flatMap((line) => (line.type === 'message' ? [line.message] : []));
    assert.deepEqual(
      messages.filter((message) => message?.agent_id === old.id),
      JSON.parse(JSON.stringify(history)),
    );
    const again = await home.run(['gc', '--archive', 'old.jsonl.gz']);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /the file already exists \(E_USAGE\)\n {2}Name a new file/);
  });

  it('with --runs the run history goes too, with --idle what rests', async () => {
    const rests = await oldTree(store, { type: 'idle' });
    const before = (await store.runs({})).length;
    assert.ok(before > 0);
    assert.match((await home.run(['gc', '--runs'])).stdout, /^removed 1 run of the history\n$/);
    assert.deepEqual(await store.runs({}), []);
    assert.ok(await store.agent(rests.id));
    const { stdout } = await home.run(['gc', '--idle', '--archive', 'plain.jsonl']);
    assert.match(stdout, /removed 1 tree, 1 agent, 1 message\nkept in plain\.jsonl\n$/);
    assert.equal(await store.agent(rests.id), null);
    const lines = readFileSync(join(home.work, 'plain.jsonl'), 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).type),
      ['archive', 'tree', 'agent', 'message', 'end'],
    );
  });

  it('continues an interrupted removal, whether it was archived or not', async () => {
    const root = await ended();
    const terms = { before: Date.now(), idle: false };
    assert.deepEqual(await store.closeTrees([root.id], { ...terms, before: 10_000 }), [root.id]);
    await store.removeTreeRows(root.id, 3, false);
    const { stdout } = await home.run(['gc', '--archive', 'rest.gz', '--older-than', '30000d']);
    assert.match(stdout, /^1 of an earlier removal that was cut short\nremoved 1 tree, 2 agents, 2 messages/);
    assert.equal(await store.agent(root.id), null);
    assert.equal(linesOf(join(home.work, 'rest.gz')).filter(({ type }) => type === 'agent').length, 2);
  });

  it('killed at any moment, it loses nothing that is not in the archive', async () => {
    let cuts = 0;
    for (let round = 0; round < 20 && cuts < 3; round += 1) {
      const roots: string[] = [];
      for (let n = 0; n < 120; n += 1) roots.push((await ended()).id);
      const { child, ended: over } = home.start(['gc', '--archive', `cut${round}.gz`]);
      while ((await store.closedTrees(1)).length === 0 && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 1));
      for (let n = 0; n < round * 5; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      child.kill('SIGKILL');
      await over;
      const left: string[] = [];
      for (const id of roots) if ((await store.agent(id)) !== null) left.push(id);
      const kept = new Set(linesOf(join(home.work, `cut${round}.gz`)).map(({ tree }) => tree?.root_id));
      for (const id of roots) assert.ok(left.includes(id) || kept.has(id), 'it is here or there');
      if (left.length > 0) cuts += 1;
      assert.equal((await home.run(['gc', '--archive', `after${round}.gz`])).code, 0);
      assert.deepEqual(await store.closedTrees(1), []);
      for (const id of roots) assert.equal(await store.agent(id), null);
    }
    assert.equal(cuts, 3, 'it was killed before its end');
  });

  it('an archive that cannot be made removes nothing', async () => {
    const root = await ended();
    const { code, stderr } = await home.run(['gc', '--archive', join('no', 'such', 'folder.gz')]);
    assert.equal(code, 2);
    assert.match(stderr, /the file cannot be created: check the folder \(E_USAGE\)/);
    assert.ok(await store.agent(root.id));
    assert.match((await home.run(['gc', '--older-than', 'soon'])).stderr, /a span of time, e\.g\. 90s/);
  });
});
