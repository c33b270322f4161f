// Proves that hooks of a project run only after the user has accepted them, with all that they run shown, and no longer once the file or a script beside it has changed; those of the configuration run at once.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';
import { putFile } from './project-files.ts';

it('hooks of a project wait for trust, by content', async () => {
  const home = makeHome();
  const hook = (command: string, type = 'command') => ({ matcher: 'Bash', hooks: [{ type, command }] });
  const hooks = {
    PreToolUse: [hook('"$CLAUDE_PROJECT_DIR"/.claude/hooks/look.sh'), hook('ask a model', 'prompt')],
    PreCompact: [hook('x')],
  };
  putFile(home, 'work/.claude/settings.json', JSON.stringify({ model: 'opus', hooks }));
  const script = '#!/bin/sh\necho project >> "$CLAUDE_PROJECT_DIR/ran"\n';
  putFile(home, 'work/.claude/hooks/look.sh', script);
  const rules = [
    { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'sh -c true' } }] },
    { say: 'done' },
  ];
  writeFileSync(join(home.folder, 'rules.json'), JSON.stringify({ rules }));
  const own = { PreToolUse: [{ hooks: [{ type: 'command', command: 'echo own >> ran' }] }] };
  home.configure({ model: `scripted:${join(home.folder, 'rules.json')}`, agentHooks: own });
  const ran = join(home.work, 'ran');
  const run = async () => {
    rmSync(ran, { force: true });
    const { code, stderr } = await home.run(['run', '--allow', 'bash', 'go']);
    assert.equal(code, 0, stderr);
    return {
      stderr,
      ran: existsSync(ran) ? readFileSync(ran, 'utf8').split('\n').toSorted().join(' ').trim() : '',
    };
  };
  const before = await run();
  assert.equal(before.ran, 'own');
  assert.match(
    before.stderr,
    /^ignored: \.claude\/settings\.json \(not trusted\); look and accept: coppice trust/m,
  );
  const accepted = await home.run(['trust', '--yes']);
  assert.match(
    accepted.stdout,
    /^\.claude\/settings\.json\n {2}hooks +PreToolUse Bash: "\$CLAUDE_PROJECT_DIR"\/\.claude\/hooks\/look\.sh$/m,
  );
  assert.match(accepted.stdout, /settings\.json: hooks of PreCompact are ignored/);
  assert.match(accepted.stdout, /settings\.json: a hook of PreToolUse is ignored: only commands are run/);
  // The script is not executable: a hook that fails is told, and blocks nothing.
  const failing = await run();
  assert.equal(failing.ran, 'own');
  assert.match(failing.stderr, /hook PreToolUse .*look\.sh" failed with exit code 126/);
  putFile(
    home,
    'work/.claude/settings.json',
    JSON.stringify({ hooks: { PreToolUse: [hook(`sh ${'"$CLAUDE_PROJECT_DIR"'}/.claude/hooks/look.sh`)] } }),
  );
  assert.equal((await run()).ran, 'own');
  await home.run(['trust', '--yes']);
  assert.equal((await run()).ran, 'own project');
  putFile(home, 'work/.claude/hooks/look.sh', `${script}# changed\n`);
  const changed = await run();
  assert.equal(changed.ran, 'own');
  assert.match(changed.stderr, /settings\.json \(changed since you trusted it\)/);
});
