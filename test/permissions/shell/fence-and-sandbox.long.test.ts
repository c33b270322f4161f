/** Proves that the sandbox protects a hidden file both from what a deny rule lets through by design and from every form that it refuses. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { createPolicy } from '../../../src/permissions/policy.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { DEEP } from '../../house/deep.ts';
import { NO_SANDBOX, testSandbox } from '../../processes/sandbox/test-sandbox.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { deleting, passing, reaching } from './command-forms.ts';

const policy = createPolicy({ cli: { allow: ['bash'], deny: ['bash:rm *'] } });
const AT_ONCE = 60;

/** Runs a form as the bash tool does, in the folder with its number, and records that it began. */
const RUNNER = `IFS= read -r -d '' text < "form-$1"
cd "$1" && touch ../began-$1
export HOME=$PWD PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
timeout -s KILL 5 setsid bash -c 'exec 2>&1; eval "set --;$1"' bash "$text" < /dev/null > /dev/null 2>&1
true
`;

describe('behind the fence', { skip: NO_SANDBOX }, () => {
  const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
  const context = makeWorkspace();
  after(() => rmSync(place, { recursive: true, force: true }));

  /** Creates a numbered folder for each form, with the files that the forms expect. */
  function lay(forms: readonly string[]): string {
    const cwd = mkdtempSync(join(place, 'forms-'));
    writeFileSync(join(cwd, 'runner'), RUNNER);
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    mkdirSync(join(cwd, 'repo'));
    spawnSync('git', [...git, '-C', join(cwd, 'repo'), 'init', '-q']);
    spawnSync('git', [...git, '-C', join(cwd, 'repo'), 'commit', '-q', '--allow-empty', '-m', 'a']);
    for (const [at, form] of forms.entries()) {
      const folder = join(cwd, String(at));
      mkdirSync(folder);
      writeFileSync(join(cwd, `form-${at}`), form);
      for (const [name, text] of [
        ['x', 'canary'],
        ['s.sh', 'rm x\n'],
        ['names', 'x\n'],
        ['m', 'a:\n\t$(V)\n'],
      ] as const)
        writeFileSync(join(folder, name), text);
    }
    return cwd;
  }

  /** The forms that removed or changed their canary; fails unless all of them began. */
  async function harmful(all: readonly string[], confined: boolean): Promise<readonly string[]> {
    const found: string[] = [];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const forms = all.slice(from, from + AT_ONCE);
      const cwd = lay(forms);
      const canaries = forms.map((_, at) => join(cwd, String(at), 'x'));
      const tool = createBashTool(confined ? testSandbox({ hidden: canaries }) : null) as Tool;
      const command = `for n in $(seq 0 ${forms.length - 1}); do [ -e "$n" ] && grep -q repo "form-$n" && cp -r repo "$n/"; done; seq 0 ${forms.length - 1} | xargs -P 4 -n 1 bash runner`;
      await call(tool, { command, timeout: 300 }, { ...context, cwd });
      for (const [at, form] of forms.entries()) {
        assert.ok(existsSync(join(cwd, `began-${at}`)), `${form} was not tried`);
        const canary = join(cwd, String(at), 'x');
        if (!existsSync(canary) || readFileSync(canary, 'utf8') !== 'canary') found.push(form);
      }
    }
    return found;
  }

  it('what passes by design does harm without the sandbox, and none in it', async () => {
    const refused = passing.filter(
      (command) => decide(policy, permissionOf('bash'), command).verdict !== 'allow',
    );
    assert.deepEqual(refused, []);
    const real = await harmful(passing, false);
    assert.ok(real.length > 0.85 * passing.length, `only ${real.join('\n')}`);
    assert.deepEqual(await harmful(passing, true), []);
  });

  it('what is refused does no harm in the sandbox, had it been allowed', async () => {
    const forms = [...deleting, ...reaching];
    assert.ok(forms.length + passing.length > 500);
    assert.deepEqual(await harmful(DEEP ? forms : forms.filter((_, at) => at % 25 === 0), true), []);
  });
});
