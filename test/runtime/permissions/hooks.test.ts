/** Proves that hooks run around calls and at the end of a turn, that they can only narrow what rules allow, that one that fails is told and blocks nothing, and that they run within the walls of commands. Real processes. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import type { HookSettings } from '../../../src/tools/hooks/hook-settings.ts';
import { createHooks } from '../../../src/tools/hooks/run-hooks.ts';
import { closeOpened } from '../../close-opened.ts';
import { NO_SANDBOX, testSandbox } from '../../processes/sandbox/test-sandbox.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { type Play, type StageOptions, setStage } from '../stage.ts';

after(closeOpened);

const BOUNDS = { sandbox: null, limits: null };
const bash = createBashTool(null) as Tool;
const RULES = { allow: [], ask: [], deny: [] };

function one(event: keyof HookSettings, command: string, matcher?: string): HookSettings {
  return { [event]: [{ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', command }] }] };
}

/** A tree whose root runs one command and then says what came of it. */
async function stageOf(settings: HookSettings, command: string, options: StageOptions = {}) {
  const cwd = temporaryFolder();
  const play: Play = ({ results, user }) =>
    results.length === 0 ? [['bash', { command }]] : `${results[0]?.status}: ${results[0]?.output}; ${user}`;
  const stage = await setStage(play, {
    tools: [bash],
    hooks: createHooks(settings, BOUNDS, () => []),
    ...options,
    config: { cwd, ...options.config },
  });
  const notices = () => stage.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { stage, cwd, notices };
}

it('a hook before a call denies it, by exit code 2 or by JSON, and the model reads why', async () => {
  for (const command of [
    'echo "no touching" >&2; exit 2',
    `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no touching"}}'`,
    `echo '{"decision":"block","reason":"no touching"}'`,
  ]) {
    const { stage, cwd } = await stageOf(one('PreToolUse', command, 'Edit|Bash'), 'touch made');
    await stage.perform();
    const [result] = await stage.results(await stage.agent('main'));
    assert.deepEqual(
      [result?.status, result?.output],
      ['denied', 'A hook of the user objects to this call: no touching'],
    );
    assert.ok(!existsSync(join(cwd, 'made')));
  }
});

it('a decision of a hook is heard wherever it stands and however it is written; a word that is none is told', async () => {
  const block = '{"decision":"block","reason":"no touching"}';
  const long = `{"reason":"${'é'.repeat(20_000)}","decision":"block"}`;
  const denied = async (command: string) => {
    const { stage, cwd, notices } = await stageOf(one('PreToolUse', command), 'touch made');
    await stage.perform();
    return { denied: !existsSync(join(cwd, 'made')), notices: notices() };
  };
  for (const said of [
    `looking …\n${block}`,
    `${block}\ndone`,
    `{"systemMessage":"looking"}\n${block}`,
    `{"level":"info"}\n${block}`,
    'looking …\n{\n  "decision": "block"\n}',
    '{"hookSpecificOutput":{"permissionDecision":" Deny "}}',
    '{"decision":"block","reason":{"text":"no"},"systemMessage":null}',
    '{"decision":null,"hookSpecificOutput":{"permissionDecision":"deny"}}',
    '{"decision":"maybe"}\n{"continue":false}',
    long,
  ])
    assert.ok((await denied(`cat << 'END'\n${said}\nEND`)).denied, said.slice(0, 100));
  const unknown = await denied(`echo '{"hookSpecificOutput":{"permissionDecision":"denied"}}'`);
  assert.equal(unknown.denied, false);
  assert.match(unknown.notices.join(), /printed the decision "denied", which is none; it decides nothing/);
  assert.deepEqual(await denied(`echo '{"level":"info"}'`), { denied: false, notices: [] });
});

it('a matcher is the whole name of a tool, ours or that of Claude Code; the hook is told of the call', async () => {
  const told = `cat > told; exit 2`;
  const { stage, cwd } = await stageOf(one('PreToolUse', told, 'bash'), 'touch made');
  await stage.perform();
  const {
    tool_name,
    tool_input,
    hook_event_name,
    permission_mode,
    cwd: where,
  } = JSON.parse(readFileSync(join(cwd, 'told'), 'utf8'));
  assert.deepEqual(
    [tool_name, tool_input, hook_event_name, permission_mode, where],
    ['Bash', { command: 'touch made' }, 'PreToolUse', 'default', cwd],
  );
  for (const matcher of ['Bas', 'Edit|Write', 'mcp__.*']) {
    const other = await stageOf(one('PreToolUse', told, matcher), 'touch made');
    await other.stage.perform();
    assert.ok(existsSync(join(other.cwd, 'made')), matcher);
  }
});

it('what a hook allows is not allowed by that; what it wants asked is asked, once, though a rule allows it', async () => {
  const says = (decision: string) =>
    `echo x >> ran; echo '{"hookSpecificOutput":{"permissionDecision":"${decision}","permissionDecisionReason":"risky"}}'`;
  const denied = await stageOf(one('PreToolUse', says('allow')), 'touch made', {
    config: { permissions: { cli: RULES, config: { ...RULES, deny: ['bash:touch *'] } } },
  });
  await denied.stage.perform();
  assert.ok(!existsSync(join(denied.cwd, 'made')) && !existsSync(join(denied.cwd, 'ran')));
  const unasked = await stageOf(one('PreToolUse', says('allow')), 'touch made', {
    config: { permissions: { cli: RULES, config: RULES } },
  });
  await unasked.stage.perform();
  assert.ok(!existsSync(join(unasked.cwd, 'made')) && existsSync(join(unasked.cwd, 'ran')));
  const nobody = await stageOf(one('PreToolUse', says('ask')), 'touch made');
  await nobody.stage.perform();
  assert.ok(!existsSync(join(nobody.cwd, 'made')));
  const asked = await stageOf(one('PreToolUse', says('ask')), 'touch made', { can_ask: true });
  const root = await asked.stage.start();
  await until(async () => (await asked.stage.store.asks({ root_id: root.id })).length === 1, 'the question');
  const [ask] = await asked.stage.store.asks({ root_id: root.id });
  assert.match(ask?.rule ?? '', /hook: risky/);
  await asked.stage.runtime.answer(ask?.id ?? '', { verdict: 'allow', scope: 'once', note: '' });
  await asked.stage.runtime.settled(root.id);
  assert.ok(existsSync(join(asked.cwd, 'made')));
  assert.equal(readFileSync(join(asked.cwd, 'ran'), 'utf8'), 'x\n');
});

it('before a person is asked, a hook may deny, and one is told that somebody is needed', async () => {
  const settings = {
    ...one(
      'PermissionRequest',
      `echo '{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"never"}}}'`,
    ),
    ...one('Notification', 'cat > notified'),
  };
  const config = { permissions: { cli: RULES, config: RULES } };
  const { stage, cwd } = await stageOf(settings, 'touch made', { can_ask: true, config });
  await stage.perform();
  assert.ok(!existsSync(join(cwd, 'made')));
  await until(
    () => existsSync(join(cwd, 'notified')) && readFileSync(join(cwd, 'notified'), 'utf8') !== '',
    'told',
  );
  assert.match(readFileSync(join(cwd, 'notified'), 'utf8'), /"message":"main asks to use bash"/);
});

it('after a call, what hooks say stands behind its result', async () => {
  const { stage } = await stageOf(
    one('PostToolUse', `grep -q '"output":"hi' && { echo "format it" >&2; exit 2; }`),
    'echo hi',
  );
  await stage.perform();
  const [result] = await stage.results(await stage.agent('main'));
  assert.deepEqual([result?.status, result?.output], ['ok', 'hi\n\n[hook: format it]']);
});

it('a hook keeps an agent from stopping until it agrees, and five times at most', async () => {
  const once = `grep -q '"stop_hook_active":true' || { echo "run the tests" >&2; exit 2; }`;
  const { stage } = await stageOf(one('Stop', once), 'true');
  await stage.perform();
  await until(async () => stage.requests.length === 3, 'it goes on');
  await stage.runtime.settled((await stage.agent('main')).id);
  const { reply } = await stage.agent('main');
  assert.match(reply ?? '', /A hook wants you to go on before you stop: run the tests/);
  const always = await stageOf(one('Stop', 'exit 2'), 'true');
  await always.stage.perform();
  await until(() => always.notices().some((text) => text.includes('5 times in a row')), 'it stops');
  assert.equal(always.stage.requests.length, 7);
});

it('a hook that fails is told and blocks nothing', async () => {
  for (const [command, said] of [
    ['echo broken >&2; exit 1', /failed with exit code 1: broken/],
    ['/no/such/program', /failed with exit code 127/],
    ['echo "{oops"', /printed JSON that is no decision/],
    ['kill -9 $$', /was killed by SIGKILL/],
  ] as const) {
    const { stage, cwd, notices } = await stageOf(one('PreToolUse', command), 'touch made');
    await stage.perform();
    assert.ok(existsSync(join(cwd, 'made')), command);
    assert.match(notices().join('\n'), said);
  }
  const slow: HookSettings = {
    PreToolUse: [{ hooks: [{ type: 'command', command: 'sleep 60', timeout: 0.2 }] }],
  };
  const { stage, cwd, notices } = await stageOf(slow, 'touch made');
  await stage.perform();
  assert.ok(existsSync(join(cwd, 'made')));
  assert.match(notices().join('\n'), /was stopped after 0\.2 s/);
});

it('a hook runs within the walls of commands', { skip: NO_SANDBOX }, async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'x');
  const command = `cat ${outside}/secret; echo y > ${outside}/secret; touch within; true`;
  const { stage, cwd } = await stageOf(one('PreToolUse', command), 'true', {
    hooks: createHooks(one('PreToolUse', command), { sandbox: testSandbox(), limits: null }, () => []),
  });
  await stage.perform();
  assert.ok(existsSync(join(cwd, 'within')));
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'x');
});

it('a message of a person is refused by a hook, or gets what hooks add', async () => {
  const refuses = `grep -q '"prompt":"secret' && { echo "no secrets" >&2; exit 2; }; echo "today is Monday"`;
  const settings = {
    ...one('UserPromptSubmit', refuses),
    ...one('SessionStart', `printf 'on branch main\n{"clean":true}\n'`),
  };
  const { stage } = await stageOf(settings, 'true');
  await assert.rejects(stage.start('secret plan'), /a hook objects to this message: no secrets/);
  const { id } = await stage.start('hello');
  await stage.runtime.settled(id);
  const [first] = await stage.store.history(id);
  assert.equal(
    first?.kind === 'user' && first.content.text,
    'hello\n\n[hook: on branch main\n{"clean":true}]\n\n[hook: today is Monday]',
  );
  await assert.rejects(stage.runtime.send(id, 'secret again'), /no secrets/);
  await stage.runtime.send(id, 'more');
  await stage.runtime.settled(id);
  assert.equal(
    (await stage.store.mail(id, true)).map(({ body }) => body).join(),
    'more\n\n[hook: today is Monday]',
  );
});
