// Proves that an agent program behind ACP may do no more than its agent, and that its start, crash and exit are handled.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openModel } from '../../src/models/providers.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { acpStage, failed, makeFolders, processesIn, processesWith, said } from './acp-stage.ts';

describe('acp program: permissions', () => {
  it('a question is decided by the rules of the agent, once and never for ever', async (test) => {
    const { ask, cwd } = await acpStage(test);
    writeFileSync(join(cwd, 'a.txt'), '');
    const rules = { allow: ['bash:git *', 'write:src/**', 'acp:fetch'], deny: ['read:secret/**'] };
    const inside = (path: string) => JSON.stringify({ locations: [{ path: join(cwd, path) }] });
    const command = (text: unknown) => JSON.stringify({ rawInput: { command: text } });
    const cases: readonly (readonly [string, string])[] = [
      [`execute ${command('git status')}`, 'allow_once'],
      [`execute ${command(['bash', '-lc', 'git status'])}`, 'allow_once'],
      [`execute ${command(['git', 'log', '--oneline'])}`, 'allow_once'],
      [`execute ${command('git status && rm -r x')}`, 'reject_once'],
      [`execute ${command(['bash', '-lc', 'rm -r x'])}`, 'reject_once'],
      ['execute', 'reject_once'],
      [`other ${command('rm -r x')}`, 'reject_once'],
      [`edit ${inside('src/new.ts')}`, 'allow_once'],
      [`edit ${inside('src/../new.ts')}`, 'reject_once'],
      [`move {"rawInput":{"source":"src/a","destination":"b"}}`, 'reject_once'],
      [`delete ${inside('a.txt')}`, 'reject_once'],
      [`edit {"locations":[{"path":"/etc/passwd"}]}`, 'reject_once'],
      [`read ${inside('a.txt')}`, 'allow_once'],
      [`read ${inside('secret/key')}`, 'reject_once'],
      ['read {"locations":[{"path":"/etc/passwd"}]}', 'reject_once'],
      ['read', 'reject_once'],
      [`search ${inside('.')}`, 'allow_once'],
      ['think', 'allow_once'],
      ['fetch', 'allow_once'],
      ['other', 'reject_once'],
      ['switch_mode', 'reject_once'],
    ];
    for (const [question, decision] of cases) {
      const { outcome } = await ask(`ask all ${question}`, { rules });
      assert.equal(said(outcome), decision, question);
    }
  });

  it('where only answers for ever are offered, the question is cancelled', async (test) => {
    const { ask } = await acpStage(test, [], { rules: { allow: ['*'] } });
    assert.equal(said((await ask('ask for-ever think')).outcome), 'cancelled');
    assert.equal(said((await ask('ask for-ever other', { rules: {} })).outcome), 'cancelled');
  });

  it('a program that stops at a refusal and says nothing does not hide it', async (test) => {
    const { ask } = await acpStage(test, ['--usage']);
    const { outcome, deltas } = await ask('ask-and-stop edit');
    assert.match(
      said(outcome),
      /^I try\.\n\n\[not allowed: write needs approval .*--allow write or --yes\.\]$/,
    );
    assert.deepEqual(
      deltas.map((delta) => delta.type),
      ['text', 'call', 'text'],
    );
    assert.equal(said((await ask('ask-and-stop read', { name: 'b' })).outcome), 'I try.');
  });

  it('reads and writes files of its agent, whole or by lines, where the rules allow it', async (test) => {
    const { ask, cwd } = await acpStage(test);
    writeFileSync(join(cwd, 'three.txt'), 'one\ntwo\nthree\n');
    assert.equal(said((await ask(`read ${cwd}/three.txt`)).outcome), 'one\ntwo\nthree\n');
    assert.equal(said((await ask(`read ${cwd}/three.txt 2 1`)).outcome), 'two');
    assert.match(failed((await ask(`read ${cwd}/none`)).outcome), /error -32002: Resource not found: none/);
    const refused = failed((await ask(`write ${cwd}/new.txt hello`)).outcome);
    assert.match(refused, /needs approval.*--allow write/);
    assert.equal(existsSync(join(cwd, 'new.txt')), false);
    const rules = { allow: ['write'] };
    assert.equal(said((await ask(`write ${cwd}/deep/new.txt hello`, { rules })).outcome), 'written');
    assert.equal(readFileSync(join(cwd, 'deep/new.txt'), 'utf8'), 'hello');
  });

  it('gets out of the folder on no way, even where everything is allowed', async (test) => {
    const { ask, cwd, outside } = await acpStage(test, [], { rules: { allow: ['*'] } });
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, join(cwd, 'link'));
    symlinkSync(join(outside, 'secret'), join(cwd, 'file-link'));
    symlinkSync(join(outside, 'new'), join(cwd, 'dangling'));
    mkdirSync(join(cwd, '.git'));
    for (const [index, attack] of [
      `read ${outside}/secret`,
      `read ${cwd}/../outside/secret`,
      `read ${cwd}/link/secret`,
      `read ${cwd}/file-link`,
      'read /etc/passwd',
      `read /proc/self/root${outside}/secret`,
      `write ${outside}/new x`,
      `write ${cwd}/../outside/new x`,
      `write ${cwd}/link/new x`,
      `write ${cwd}/dangling x`,
      `write ${cwd}/file-link x`,
      `write ${cwd}/.git/config x`,
    ].entries()) {
      const { outcome } = await ask(attack, { name: `attack ${index}` });
      assert.equal(outcome.type, 'failure', attack);
    }
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
    assert.equal(existsSync(join(outside, 'new')), false);
    assert.equal(existsSync(join(cwd, '.git/config')), false);
  });

  it('runs commands in a terminal, as the rules for bash allow', async (test) => {
    const { ask, cwd } = await acpStage(test);
    const rules = { allow: ['bash:echo *', 'bash:pwd'] };
    assert.equal(said((await ask('run echo hello world', { rules })).outcome), 'hello world [0]');
    assert.equal(said((await ask('run pwd', { rules })).outcome), `${cwd} [0]`);
    assert.match(failed((await ask('run ls', { rules })).outcome), /bash needs approval/);
    const all = { allow: ['bash'] };
    const missing = said((await ask('run no-such-command --x', { rules: all })).outcome);
    assert.match(missing, /not found.*\[127\]/);
    const flood = said((await ask('run seq 1 100000', { rules: all })).outcome);
    assert.ok(flood.length <= 257 * 1024 && flood.endsWith('100000 [0, truncated]'));
  });

  it('what it left running ends with the prompt, and it may do nothing between prompts', async (test) => {
    const { ask, cwd } = await acpStage(test, [], { rules: { allow: ['*'] } });
    const pid = Number(said((await ask('leave sleep 30')).outcome));
    assert.ok(pid > 1);
    assert.ok(await eventually(() => processesIn(cwd).length === 0));
    writeFileSync(join(cwd, 'file'), 'content');
    assert.equal(said((await ask(`late ${cwd}/file`, { name: 'b' })).outcome), 'done');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const messages = [`late ${cwd}/file`, 'chosen'].map((text) => ({ role: 'user', text }) as const);
    const after = said((await ask(messages, { name: 'b' })).outcome);
    assert.equal(after, 'no prompt is under way in this session');
  });

  it('sees only the variables on the list, those passed on by name, and those set for it', async (test) => {
    process.env.ACP_TEST_KEPT = 'kept';
    process.env.ACP_TEST_HIDDEN = 'hidden';
    const { ask } = await acpStage(test, [], { envAllow: ['ACP_TEST_KEPT'], env: { ACP_TEST_SET: 'set' } });
    const names = JSON.parse(said((await ask('environment')).outcome)) as string[];
    assert.deepEqual(
      ['PATH', 'ACP_TEST_KEPT', 'ACP_TEST_SET', 'ACP_TEST_HIDDEN'].map((name) => names.includes(name)),
      [true, true, true, false],
    );
  });
});

describe('acp program: life', () => {
  it('a crash fails every open prompt with its last words; the next use starts it anew with the transcript', async (test) => {
    const { ask, processes } = await acpStage(test);
    const hanging = ['x', 'y', 'z'].map((name) => ask('hang', { name }));
    const first = (await ask('echo hi')).outcome;
    assert.ok(first.type === 'answer');
    const [before] = processes();
    const { outcome } = await ask([
      { role: 'user', text: 'echo hi' },
      { role: 'assistant', ...first.content },
      { role: 'user', text: 'crash' },
    ]);
    assert.equal(
      failed(outcome),
      'network: acp:test: the agent program ended with exit code 7; last output on stderr: fatal: out of luck | [stack] at home',
    );
    assert.ok(outcome.type === 'failure' && outcome.failure.retryable && outcome.partial === 'about to');
    for (const pending of hanging) assert.match(failed((await pending).outcome), /ended with exit code 7/);
    const again = await ask([
      { role: 'user', text: 'echo hi' },
      { role: 'assistant', ...first.content },
      { role: 'user', text: 'prompt' },
    ]);
    const [{ text }] = JSON.parse(said(again.outcome)) as [{ text: string }];
    assert.equal(text, '# Conversation so far\n\nUser: echo hi\n\nAssistant: hi\n\n# Now\n\nprompt');
    assert.equal(processes().length, 1);
    assert.notEqual(processes()[0], before);
  });

  it('a start that fails says why: no command, no permission, an exit at once, silence, another protocol', async (test) => {
    const { cwd, ask: _ } = await acpStage(test);
    const locked = join(cwd, 'locked');
    writeFileSync(locked, '');
    chmodSync(locked, 0o600);
    for (const [flags, config, sentence] of [
      [[], { command: 'no-such-agent' }, /^no_model: .*there is no command "no-such-agent"$/],
      [[], { command: locked }, /^no_model: .*no permission to execute ".*"$/],
      [['--exit'], {}, /^no_model: .*ended with exit code 3; last output on stderr: no configuration found$/],
      [
        ['--silent', '--help'],
        { startTimeoutSeconds: 3 },
        /^timed_out: .*"initialize" within 3 s; it wrote: usage: agent/,
      ],
      [['--version-2'], {}, /^no_model: .*version 2 of the protocol; we speak 1$/],
    ] as const) {
      const stage = await acpStage(test, flags, config);
      const { outcome } = await stage.ask('echo x');
      assert.match(failed(outcome), sentence);
      assert.deepEqual(stage.processes(), []);
    }
  });

  it('a program that wants a login says so, without its key', async (test) => {
    const { ask } = await acpStage(test, ['--auth'], { env: { SOME_KEY: 'Authentication required' } });
    const sentence = failed((await ask('echo x')).outcome);
    assert.match(
      sentence,
      /^auth: .*Log in with the program itself.*acp\.test\.envAllow.*Log in with a browser/,
    );
    assert.match(sentence, /\[key\]/);
  });

  it('close ends the program and all that hangs on it, politely first and by force', async (test) => {
    for (const flags of [[], ['--lingers']]) {
      const { model, ask, processes } = await acpStage(test, flags);
      const hanging = ask('hang');
      assert.equal(said((await ask('echo x', { name: 'b' })).outcome), 'x');
      assert.equal(processes().length, 1);
      await model.close?.();
      assert.deepEqual(processes(), []);
      assert.match(failed((await hanging).outcome), /it was closed/);
      assert.match(failed((await ask('echo x')).outcome), /^cancelled: acp:test is closed/);
    }
  });

  it('close does not wait for a program that has not answered yet', async (test) => {
    const { model, ask, processes } = await acpStage(test, ['--silent']);
    const silent = ask('echo x');
    await eventually(() => processes().length === 1);
    await model.close?.();
    assert.deepEqual(processes(), []);
    assert.match(failed((await silent).outcome), /^cancelled: .*was closed before it had answered/);
  });

  it('ends with us, even when nobody closes it', async () => {
    const { cwd } = makeFolders();
    const script = join(cwd, 'leave.mjs');
    const url = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href);
    const program = JSON.stringify([
      process.execPath,
      join(import.meta.dirname, '../servers/acp-agent.ts'),
      '--lingers',
      cwd,
    ]);
    writeFileSync(
      script,
      `import { openModel } from ${url('../../src/models/providers.ts')};
const [command, ...args] = ${program};
const model = await openModel('acp:a', { providers: {}, env: process.env, acp: { programs: { a: { command, args } }, sandboxFor: async () => null, servers: new Map() } });
const agent = { id: 'a', name: 'a', parent_id: null };
const host = { cwd: process.cwd(), env: {}, refusal: () => 'no' };
const messages = [{ role: 'user', text: 'turn' }];
const request = { system: '', messages, tools: [], signal: new AbortController().signal, agent, host };
const outcome = await model.stream(request, () => undefined);
console.log(outcome.content.parts[0].text);
process.exit();`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script]);
    assert.match(stdout, /^turn 1/);
    assert.ok(await eventually(() => processesWith(cwd).length === 0));
  });

  it('an unknown name is refused with those that are configured', async () => {
    const programs = { one: { command: 'a' }, two: { command: 'b' } };
    const acp = { programs, sandboxFor: async () => null, servers: new Map() };
    const options = { providers: {}, env: {}, acp };
    await assert.rejects(openModel('acp:three', options), {
      code: 'E_MODEL_UNKNOWN',
      hint: 'Configured: acp:one, acp:two',
    });
    await assert.rejects(openModel('acp:constructor', options), { code: 'E_MODEL_UNKNOWN' });
    await assert.rejects(openModel('acp:x', { providers: {}, env: {} }), /"x"/);
  });
});
