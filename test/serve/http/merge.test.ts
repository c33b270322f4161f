// Proves over HTTP, with real git, that branches of agents are merged into the folder of their tree only as `coppice merge` would: never over what a person has
// not committed, never of an agent at work or of another tree, and not to stay if the test of the server fails, which no request can choose.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { makeRepository, type Repository } from '../../runtime/worktree/git-repository.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

let web: WebStage;
let repository: Repository;
let tree = '';

const FILES: Readonly<Record<string, string>> = { adds: 'new.txt', breaks: 'bad.txt' };
const open = Promise.withResolvers<void>();

before(async () => {
  repository = makeRepository({ 'shared.txt': 'one\n' });
  web = await setWebStage(
    async ({ name, step }) => {
      if (name === 'main' && step === 0)
        return [...Object.keys(FILES), 'works'].map(
          (child) => ['fork', { name: child, prompt: 'x', worktree: true }] as const,
        );
      const path = FILES[name];
      if (path !== undefined && step === 0) return [['write', { path, content: 'x\n' }]];
      if (name === 'works') await open.promise;
      return 'done';
    },
    { tools: createBuiltInTools() },
  );
  const body = { prompt: 'go', cwd: repository.folder };
  tree = (await web.ask('/v1/trees', { method: 'POST', body })).json.id;
  await until(async () => {
    const { agents } = (await web.ask(`/v1/trees/${tree}`)).json;
    const idle = agents.filter(({ status }: { status: string }) => status === 'idle');
    return agents.length === 4 && idle.length === 3;
  }, 'three of four have done their work');
});
after(async () => {
  open.resolve();
  await web?.close();
});

const merge = (body: object, more = {}) =>
  web.ask(`/v1/trees/${tree}/merge`, { method: 'POST', body, ...more });

it('what is merged into what is told first, and why it cannot be', async () => {
  const plan = await merge({ agents: ['adds'], dry_run: true });
  const { folder, branch, test, merges } = plan.json;
  assert.deepEqual([folder, branch, test, merges], [repository.folder, 'main', 'test ! -e bad.txt', []]);
  assert.equal(existsSync(join(repository.folder, 'new.txt')), false);
  writeFileSync(join(repository.folder, 'shared.txt'), 'mine\n');
  for (const dry_run of [true, false]) {
    const dirty = await merge({ agents: ['adds'], dry_run });
    assert.equal(dirty.status, 409);
    assert.match(dirty.json.error.message, /changes that are not committed: shared\.txt/);
  }
  repository.git('checkout', '--quiet', 'shared.txt');
});

it('an agent at work, one without a branch, and one of another tree are refused, and so is a token that only reads', async () => {
  const other = (await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'go', cwd: web.folder } }))
    .json;
  for (const [agents, status, message] of [
    [['works'], 409, /works is still at work/],
    [['adds', 'main'], 400, /main has no worktree/],
    [[other.id], 404, /no agent/],
    [[], 400, /agents/],
  ] as const) {
    const refused = await merge({ agents });
    assert.equal(refused.status, status, refused.text);
    assert.match(refused.text, message);
  }
  assert.equal((await merge({ agents: ['adds'] }, { token: 'read' })).status, 403);
  const chosen = await merge({ agents: ['adds'], test: 'touch owned' });
  assert.equal(chosen.status, 400, 'the test is the server’s');
  assert.equal(existsSync(join(repository.folder, 'new.txt')), false);
});

it('a branch is merged; one with which the test fails is not, and its author is told', async () => {
  const { json } = await merge({ agents: ['adds', 'breaks'] });
  assert.deepEqual(
    json.merges.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [
      ['adds', 'merged'],
      ['breaks', 'test_failed'],
    ],
  );
  assert.equal(existsSync(join(repository.folder, 'new.txt')), true);
  assert.equal(existsSync(join(repository.folder, 'bad.txt')), false);
  assert.equal(repository.git('status', '--porcelain'), '');
  const { mail } = (await web.ask(`/v1/agents/${json.merges[1].sent_to}/mail?all=1`)).json;
  assert.ok(mail.some(({ body }: { body: string }) => /the test failed \(exit 1\)/.test(body)));
});
