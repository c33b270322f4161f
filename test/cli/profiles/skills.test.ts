// Proves that a model sees only the name and description of a skill, reads it with a tool, and can use it neither before the user accepts its folder nor after
// anything in the folder has changed.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { type FoundSkills, readSkills } from '../../../src/cli/setup/profiles/skill-files.ts';
import { childConfig } from '../../../src/kernel/toolsets/acts/child-config.ts';
import { ALL_TOOLSETS } from '../../../src/kernel/toolsets/all-toolsets.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../../src/records/agent/agent.ts';
import { createRecallTool } from '../../../src/runtime/performing/recall-tool.ts';
import { ToolCatalog } from '../../../src/runtime/tool-catalog.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { type Home, makeHome } from '../run-cli.ts';
import { lookFrom, putFile } from './project-files.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});

const put = (path: string, text: string): void => putFile(home, path, text);

const skillText = (description: string, body = 'Do it.') =>
  `---\ndescription: ${description}\n---\n${body}\n`;

async function found(cwd = home.work): Promise<FoundSkills> {
  const { places, configuration } = await lookFrom(home, cwd);
  return readSkills(places, configuration.skills?.folders);
}

describe('skills', () => {
  it('are found in the folder of the configuration and in those of the project, the nearest first', async () => {
    mkdirSync(join(home.work, '.git'));
    put('config/coppice/skills/mine/SKILL.md', skillText('Mine.'));
    put('work/.agents/skills/both/SKILL.md', skillText('Outer.'));
    put('work/.agents/skills/outer/SKILL.md', skillText('Outer only.'));
    put('work/part/.agents/skills/both/SKILL.md', skillText('Inner.'));
    put('work/part/.agents/skills/mine/SKILL.md', skillText('Not mine.'));
    put('work/part/.agents/skills/none/README.md', 'No skill.');
    const brief = ({ skills }: FoundSkills) =>
      skills.map(({ name, description, trust }) => `${name}: ${description} (${trust})`);
    const part = join(home.work, 'part');
    assert.deepEqual(brief(await found(part)), [
      'both: Inner. (untrusted)',
      'mine: Mine. (own)',
      'outer: Outer only. (untrusted)',
    ]);
    home.configure({ skills: { folders: ['tools/skills'] } });
    put('work/tools/skills/there/SKILL.md', skillText('There.'));
    assert.deepEqual(brief(await found(part)), ['mine: Mine. (own)', 'there: There. (untrusted)']);
  });

  it('that are wrong, too large, or lead out of the project are left out and told', async () => {
    const at = 'work/.agents/skills';
    put(`${at}/empty/SKILL.md`, 'No front matter.');
    put(`${at}/name/SKILL.md`, '---\nname: Not A Name\ndescription: x\n---\n');
    put(`${at}/large/SKILL.md`, skillText('Large.', 'x'.repeat(1024 * 1024)));
    put(`${at}/long/SKILL.md`, skillText(`Lo\\u202eng ${'x'.repeat(600)}`.replace('\\u202e', '\u202e')));
    put('elsewhere/SKILL.md', skillText('Elsewhere.'));
    symlinkSync(join(home.folder, 'elsewhere'), join(home.work, '.agents/skills/out'));
    const { skills, notices } = await found();
    assert.deepEqual(
      skills.map(({ name, description }) => [name, description.length, description.slice(0, 5)]),
      [['long', 500, 'Long ']],
    );
    for (const [name, why] of [
      ['empty', 'its SKILL.md has no description'],
      ['name', 'its name must be'],
      ['large', 'a skill has at most 1 MB'],
      ['out', 'is outside'],
    ])
      assert.match(notices.join('\n'), new RegExp(`skills/${name} is ignored: .*${why}`), name);
  });

  it('are looked for in a bounded part of what a project holds', async () => {
    const at = 'work/.agents/skills';
    put(`${at}/a/SKILL.md`, skillText('A.'));
    for (let number = 0; number <= 200; number += 1) mkdirSync(join(home.work, at.slice(5), `a/${number}`));
    put(`${at}/b/SKILL.md`, skillText('B.'));
    for (let number = 0; number < 200; number += 1) put(`${at}/c${number}/SKILL.md`, 'No front matter.');
    const { skills, notices } = await found();
    assert.deepEqual(
      skills.map(({ name }) => name),
      ['b'],
    );
    const full = '.agents/skills has 202 entries: only the first 200 by name are searched for skills';
    assert.deepEqual(notices.slice(0, 2), [
      full,
      '.agents/skills/a is ignored: it has more than 200 folders',
    ]);
    assert.equal(notices.length, 200);
  });

  it('are told by name and description, to agents with the tool whose profile allows them', () => {
    const none = { allow: [], ask: [], deny: [] };
    const skills = ['one', 'two'].map((name) => ({
      name,
      description: `For ${name}.`,
      folder: '/',
      hash: null,
    }));
    const parent: AgentConfig = {
      model: 'a/b',
      thinking: 'off',
      system: 'You.',
      skills,
      toolsets: [],
      tools: ['read', 'skill'],
      cwd: '/',
      permissions: { cli: none, config: none },
    };
    const catalog = new ToolCatalog({
      tools: createBuiltInTools(),
      toolsets: ALL_TOOLSETS,
      terms: DEFAULT_TERMS,
      recall: createRecallTool({ history: async () => [] }),
    });
    const seen = (config: AgentConfig): [string, string[]] => {
      const { system, specs } = catalog.setupFor(config);
      return [
        system
          .split('\n')
          .slice(1)
          .join('\n')
          .replace(/^\nSkills.*\n/, ''),
        specs(false, false).map(({ name }) => name),
      ];
    };
    const child = (over: object) => childConfig(parent, { profile: profileOf(over) });
    assert.deepEqual(seen(parent), ['- one: For one.\n- two: For two.', ['read', 'skill']]);
    assert.deepEqual(seen(child({ skills: ['two', 'three'] })), ['- two: For two.', ['read', 'skill']]);
    assert.deepEqual(seen(child({ skills: [] })), ['', ['read']]);
    assert.deepEqual(seen(child({ deny_tools: ['skill'] })), ['', ['read']]);
    const { skills: _, ...without } = parent;
    assert.deepEqual(seen(without), ['', ['read']]);
  });

  it('are read with a tool, as they were accepted; a changed one is not used', async () => {
    put('work/.agents/skills/deploy/SKILL.md', skillText('How to deploy.', 'Run steps.txt.'));
    put('work/.agents/skills/deploy/inner/steps.txt', 'Step one.');
    symlinkSync('/etc/passwd', join(home.work, '.agents/skills/deploy/link'));
    const calls = [
      { name: 'deploy' },
      { name: 'deploy', file: './inner/steps.txt' },
      { name: 'deploy', file: 'link' },
      { name: 'deploi' },
    ].map((input) => ({ name: 'skill', input }));
    // The third step comes after the model has changed the skill itself.
    const change = {
      name: 'write',
      input: { path: '.agents/skills/deploy/inner/more.txt', content: 'Other.' },
    };
    const rules = [
      { when: { step: 0 }, calls },
      { when: { step: 1 }, calls: [change] },
      { when: { step: 2 }, calls: calls.slice(0, 1) },
      { say: 'done' },
    ];
    writeFileSync(join(home.folder, 'rules.json'), JSON.stringify({ rules }));
    home.configure({ model: `scripted:${join(home.folder, 'rules.json')}` });
    const results = async (): Promise<string[]> => {
      const { code, stderr } = await home.run(['run', '--allow', 'write', 'go']);
      assert.equal(code, 0, stderr);
      const store = await openStore(home.database);
      const roots = await store.agents({ conversations: true });
      const newest = roots.toSorted((a, b) => b.created_at - a.created_at)[0];
      const history = await store.history(newest?.id ?? '');
      await store.close();
      return history.flatMap((message) => (message.kind === 'result' ? [message.content.output] : []));
    };
    assert.match((await results())[0] ?? '', /there is no skill "deploy"/);
    rmSync(join(home.work, '.agents/skills/deploy/inner/more.txt'));
    const accepted = await home.run(['trust', '--yes']);
    assert.match(
      accepted.stdout,
      /^\.agents\/skills\/deploy\n {2}skill +deploy: How to deploy\. \(3 files\)$/m,
    );
    assert.match(
      (await home.run(['doctor'])).stdout,
      /^ok +skill +\.agents\/skills\/deploy: trusted; deploy: How/m,
    );
    // Concurrent calls end in any order.
    const read = (await results()).toSorted().join('\n');
    assert.match(read, /^Step one\.$/m);
    assert.match(
      read,
      /^\[skill deploy, in the folder .*; its files: SKILL\.md, inner\/steps\.txt, link@\]\n---/m,
    );
    assert.match(read, /^Run steps\.txt\.$/m);
    assert.match(read, /the skill deploy has no file link\. It has/);
    assert.match(read, /no skill "deploi"\. Did you mean deploy\?/);
    assert.match(read, /the skill deploy has changed since this conversation began/);
    rmSync(join(home.work, '.agents/skills/deploy/link'));
    const again = await home.run(['run', 'go']);
    assert.match(again.stderr, /^ignored: \.agents\/skills\/deploy \(changed since you trusted it\)/m);
  });
});
