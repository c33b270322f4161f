// Proves that an agent program that serves as a model is confined like its agent: folder, tools and rules; and that none of its processes is left running.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { HostAnswer, HostTerminal, ModelHost } from '../../../src/models/model-host.ts';
import type { PermissionRules } from '../../../src/records/agent/agent.ts';
import { createModelHost } from '../../../src/settings/agent-program-host.ts';
import { agentConfig, type Folders, makeFolders, processesIn } from '../../models/acp-stage.ts';
import { eventually } from '../../tools/tool-fixture.ts';

const ANYTHING = { allow: ['*'] };

function open(
  rules: Partial<PermissionRules> = {},
  tools?: readonly string[],
): Folders & { readonly host: ModelHost } {
  const folders = makeFolders();
  return {
    ...folders,
    host: createModelHost(
      { config: agentConfig(folders.cwd, rules, tools), root_id: 'root' },
      {
        env_allow: [],
        store: { kind: 'postgres', location: '' },
        spill_dir: '/nowhere',
      },
    ),
  };
}

function refused(answer: HostAnswer<object>): string {
  assert.ok(!answer.ok, JSON.stringify(answer));
  return answer.error;
}

async function start(
  host: ModelHost,
  command: string,
  over: Partial<Parameters<ModelHost['startCommand']>[0]> = {},
): Promise<HostTerminal> {
  const answer = await host.startCommand({
    command,
    args: [],
    cwd: null,
    env: {},
    output_bytes: 10_000,
    ...over,
  });
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.terminal;
}

async function outputOf(terminal: HostTerminal): Promise<string> {
  await terminal.exited;
  return terminal.output().text;
}

describe('model host: files', () => {
  it('reads text by lines, and says what it cannot read', async () => {
    const { host, cwd } = open();
    writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\nthree');
    assert.deepEqual(await host.readFile('a.txt'), { ok: true, text: 'one\ntwo\nthree' });
    assert.deepEqual(await host.readFile(join(cwd, 'a.txt'), 2), { ok: true, text: 'two\nthree' });
    assert.deepEqual(await host.readFile('a.txt', 2, 1), { ok: true, text: 'two' });
    assert.deepEqual(await host.readFile('a.txt', 9, 1), { ok: true, text: '' });
    writeFileSync(join(cwd, 'binary'), Buffer.from([1, 0, 2]));
    assert.match(refused(await host.readFile('binary')), /binary/);
    assert.match(refused(await host.readFile('.')), /folder/);
    assert.match(refused(await host.readFile('none')), /no such file/);
    writeFileSync(join(cwd, 'large'), Buffer.alloc(10 * 1024 * 1024 + 1, 'x'));
    assert.match(refused(await host.readFile('large')), /10485761 bytes; the maximum is 10485760/);
  });

  it('no path leads out of the folder: absolute paths, dots, links, and links created meanwhile', async () => {
    const { host, cwd, outside } = open(ANYTHING);
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, join(cwd, 'link'));
    symlinkSync('../outside/secret', join(cwd, 'file'));
    symlinkSync('../outside/new', join(cwd, 'dangling'));
    mkdirSync(join(cwd, 'sub'));
    for (const path of [
      `${outside}/secret`,
      '../outside/secret',
      'link/secret',
      'sub/../link/secret',
      'file',
      '/etc/passwd',
    ])
      assert.match(refused(await host.readFile(path)), /outside your folder/, path);
    for (const path of [`${outside}/new`, '../outside/new', 'link/new', 'dangling', 'file'])
      refused(await host.writeFile(path, 'x'));
    for (const path of ['.git/hooks/pre-commit', 'sub/.coppice/config.json', 'a\0b', '', '.'])
      refused(await host.writeFile(path, 'x'));
    renameSync(join(cwd, 'sub'), join(cwd, 'old'));
    symlinkSync(outside, join(cwd, 'sub'));
    refused(await host.writeFile('sub/new', 'x'));
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
    assert.equal(existsSync(join(outside, 'new')), false);
    for (const folder of ['..', outside, 'link', '/'])
      refused(await host.startCommand({ command: 'pwd', args: [], cwd: folder, env: {}, output_bytes: 100 }));
  });

  it('rules apply to the canonical path, so a link does not bypass them', async () => {
    const { host, cwd } = open({ allow: ['write:open/**'], deny: ['read:closed/**'] });
    for (const folder of ['open', 'closed']) mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, 'closed/key'), 'key');
    symlinkSync('../closed', join(cwd, 'open/door'));
    assert.match(refused(await host.readFile('open/door/key')), /denied by the rule deny\(read:closed/);
    assert.equal((await host.writeFile('open/deep/er/file', 'x')).ok, true);
    assert.match(refused(await host.writeFile('open/door/file', 'x')), /needs approval/);
    assert.match(refused(await host.writeFile('open/../other', 'x')), /needs approval/);
  });

  it('the program of an agent without a tool does not have it either, whatever the rules allow', async () => {
    const { host, cwd } = open(ANYTHING, ['read']);
    writeFileSync(join(cwd, 'a'), 'a');
    assert.equal((await host.readFile('a')).ok, true);
    assert.match(refused(await host.writeFile('a', 'b')), /no tool "write"/);
    assert.match(
      refused(await host.startCommand({ command: 'ls', args: [], cwd: null, env: {}, output_bytes: 1 })),
      /no tool "bash"/,
    );
    assert.equal(await host.permit({ tool: 'acp', subject: 'fetch' }), null);
  });

  it('undescribed uses are refused where a rule covers some of them', async () => {
    const { host } = open({ allow: ['bash', 'write'], deny: ['bash:rm *'] });
    assert.match((await host.permit({ tool: 'bash', subject: '' })) ?? '', /does not say.*bash:rm \*/);
    const yes = open({ allow: ['*'] });
    assert.equal(await yes.host.permit({ tool: 'bash', subject: '' }), null);
    assert.match(
      (await open({ allow: ['bash:git *'] }).host.permit({ tool: 'bash', subject: '' })) ?? '',
      /needs approval/,
    );
    assert.equal(await host.permit({ tool: 'write', subject: '' }), null);
    assert.equal(await host.permit({ tool: 'read', subject: '' }), null);
    assert.match((await host.permit({ tool: 'acp', subject: 'other' })) ?? '', /needs approval/);
  });
});

describe('model host: commands', () => {
  it('runs shell commands, and programs with exactly their arguments', async () => {
    const { host, cwd } = open(ANYTHING);
    mkdirSync(join(cwd, 'sub'));
    assert.equal(
      await outputOf(await start(host, 'echo a; echo b >&2; pwd', { cwd: 'sub' })),
      `a\nb\n${cwd}/sub\n`,
    );
    const odd = await start(host, 'printf', { args: ['%s|', '$HOME', 'a b', "it's", '; ls'] });
    assert.equal(await outputOf(odd), "$HOME|a b|it's|; ls|");
    const failing = await start(host, 'exit 3');
    assert.deepEqual(await failing.exited, { code: 3, signal: null });
    assert.deepEqual((await (await start(host, 'no-such-program')).exited).code, 127);
    assert.equal(await outputOf(await start(host, 'echo $GREETING', { env: { GREETING: 'hi' } })), 'hi\n');
  });

  it('rules for bash see the command as it runs, with the variables that are set for it', async () => {
    const { host } = open({ allow: ['bash:git *', 'bash:echo *'], deny: ['bash:git push *'] });
    assert.equal(await outputOf(await start(host, 'echo', { args: ['a'] })), 'a\n');
    for (const request of [
      { command: 'git', args: ['push', 'x'] },
      { command: 'git push x', args: [] },
      { command: 'echo', args: ['a'], env: { PATH: '../evil' } },
      { command: 'echo a; ls', args: [] },
      { command: 'bash', args: ['-c', 'git status'] },
      { command: '-a', args: ['git', 'ls'] },
      { command: ' ', args: [] },
      { command: 'echo', args: ['a'], env: { 'X=1 ls;': '' } },
    ])
      refused(await host.startCommand({ cwd: null, env: {}, output_bytes: 100, ...request }));
  });

  it('keeps the newest output, in whole characters, however much there is', async () => {
    const { host } = open(ANYTHING);
    const terminal = await start(host, 'seq 1 200000; printf "äöü"', { output_bytes: 5 });
    assert.equal(await outputOf(terminal), 'öü');
    assert.deepEqual(terminal.output(), { text: 'öü', truncated: true, exit: { code: 0, signal: null } });
    const nothing = await start(host, 'echo x', { output_bytes: 0 });
    assert.equal(await outputOf(nothing), '');
  });

  it('kill stops the whole process group and stray processes', async () => {
    const { host, cwd } = open(ANYTHING);
    const terminal = await start(host, 'sleep 60 & setsid sleep 60 & echo ready; wait');
    assert.ok(await eventually(() => terminal.output().text === 'ready\n' && processesIn(cwd).length >= 3));
    assert.equal(terminal.output().exit, null);
    await terminal.kill();
    assert.deepEqual(terminal.output().exit, { code: null, signal: 'SIGTERM' });
    assert.ok(await eventually(() => processesIn(cwd).length === 0));
    await terminal.kill();
  });

  it('passes only the listed environment variables to commands', async () => {
    process.env.MODEL_HOST_SECRET = 'secret';
    const { host } = open(ANYTHING);
    assert.equal(await outputOf(await start(host, 'echo "[$MODEL_HOST_SECRET]"')), '[]\n');
    assert.equal(host.env.MODEL_HOST_SECRET, undefined);
  });
});
