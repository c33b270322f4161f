// Proves webhooks in with default settings: `coppice serve` takes signed deliveries of the configuration without a token, two servers of one ledger and one started later name the same tree, its reply is delivered, doctor shows the hook, and a missing secret keeps the server from starting.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SENDERS } from '../../serve/hooks/senders.ts';
import { until } from '../../until.ts';
import { META } from '../../workflows/played-script.ts';
import { type Home, makeHome } from '../run-cli.ts';

const SECRET = 'a-secret-of-the-hook';

function serve(home: Home) {
  const { child, ended } = home.start(['serve', '--log', 'json', '--listen', '127.0.0.1:0'], {
    env: { HOOK_SECRET: SECRET },
  });
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  const url = async () => {
    await until(() => /listening on http[^;]+/.test(log), `it listens\n${log}`);
    return /listening on (http[^;]+)/.exec(log)?.[1] ?? '';
  };
  const stop = async () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { url, stop, log: () => log };
}

it('a delivery starts one tree, whichever server gets it and whenever it comes again', async () => {
  const home = makeHome();
  const out = join(home.folder, 'out.md');
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'reviewed' }] }));
  home.configure({
    model: `scripted:${join(home.work, 'rules.json')}`,
    channels: { file: { out } },
    hooks: {
      review: {
        signature: 'github',
        secretEnv: 'HOOK_SECRET',
        on: ['pull_request.opened'],
        key: '{{repository.full_name}}#{{number}}',
        task: 'Review {{number}}: {{pull_request.title}}',
        deliver: ['file:out'],
      },
      flow: {
        ...{ signature: 'github', secretEnv: 'HOOK_SECRET', permissions: { allow: ['workflow:test'] } },
        ...{ workflow: './flow.js', args: { number: '{{number}}' } },
      },
    },
  });
  writeFileSync(join(home.work, 'flow.js'), `${META}return [args.number, await agent('look')]`);
  const without = await home.run(['serve']);
  assert.equal(without.code, 2);
  assert.match(without.stderr, /hooks\.review: the environment variable HOOK_SECRET is not set/);
  const doctor = await home.run(['doctor'], { env: { HOOK_SECRET: SECRET } });
  assert.match(
    doctor.stdout,
    /ok +hook:review +POST \/v1\/hooks\/review, signature github, HOOK_SECRET is set/,
  );

  const servers = [serve(home), serve(home)];
  const [one = '', two = ''] = await Promise.all(servers.map(({ url }) => url()));
  const payload = {
    action: 'opened',
    number: 7,
    repository: { full_name: 'a/b' },
    pull_request: { title: 'Mend it' },
  };
  const { headers, body } = SENDERS.github(SECRET, payload);
  const post = async (url: string, sent = body, hook = 'review') => {
    const answer = await fetch(`${url}/v1/hooks/${hook}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: sent,
    });
    return {
      status: answer.status,
      ...((await answer.json()) as { root_id?: string; outcome?: string; error?: { message: string } }),
    };
  };
  const both = await Promise.all([post(one), post(two)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [202, 202],
  );
  const root_id = both[0]?.root_id ?? '';
  assert.equal(both[1]?.root_id, root_id);
  const forged = await post(one, `${body} `);
  assert.equal(forged.status, 401);
  assert.match(forged.error?.message ?? '', /x-hub-signature-256 does not match/);
  await until(
    () => existsSync(out) && readFileSync(out, 'utf8').includes('reviewed'),
    'its reply is delivered',
  );
  const flows = await Promise.all([post(one, body, 'flow'), post(two, body, 'flow')]);
  assert.equal(flows[0]?.root_id, flows[1]?.root_id);
  const shown = () => home.run(['show', flows[0]?.root_id ?? '']);
  await until(async () => (await shown()).stdout.includes('[7,"reviewed"]'), 'the workflow has its result');
  const { paths } = (await (await fetch(`${one}/v1/openapi.json`)).json()) as {
    paths: Record<string, { post: { security: object } }>;
  };
  assert.deepEqual(paths['/v1/hooks/{name}']?.post.security, []);
  for (const { stop } of servers) assert.equal((await stop()).code, 0);
  assert.ok(!servers.some(({ log }) => log().includes(SECRET)));

  const later = serve(home);
  const again = await post(await later.url());
  assert.deepEqual([again.status, again.outcome, again.root_id], [202, 'repeated', root_id]);
  await later.stop();
  const trees = JSON.parse((await home.run(['ps', '--all', '--json'])).stdout);
  // The agent of the workflow is named by its task.
  const names = trees.agents.map(({ name }: { name: string }) => name).sort();
  assert.deepEqual(names, ['flow', 'look', 'review']);
});
