// Proves in a real browser, with real git, that a person merges branches of agents from the page of their tree: it says what goes into what before that, and
// afterwards what came of each.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { runGit } from '../../runtime/worktree/git-repository.ts';
import { assertLooks, CHROMIUM } from './browser.ts';
import { openDashboard } from './dashboard.ts';

const FILES = { adds: 'new.txt', breaks: 'bad.txt' };
const RULES = [
  {
    when: { root: true, step: 0 },
    calls: Object.keys(FILES).map((name) => ({ name: 'fork', input: { name, prompt: 'x', worktree: true } })),
  },
  ...Object.entries(FILES).map(([agent, path]) => ({
    when: { agent, step: 0 },
    calls: [{ name: 'write', input: { path, content: 'x\n' } }],
  })),
  { say: 'done' },
];

it('a person merges two branches: one stays, one fails its test and is undone', {
  skip: CHROMIUM === null ? 'chromium is not installed' : false,
}, async () => {
  const dashboard = await openDashboard(RULES, {
    agents: { defaults: { permissions: { allow: ['write'] } } },
    merge: { test: 'test ! -e bad.txt' },
  });
  const { page, home, link, faults } = dashboard;
  try {
    writeFileSync(join(home.work, 'shared.txt'), 'one\n');
    runGit(home.work, 'init', '--quiet', '--initial-branch', 'main');
    runGit(home.work, 'add', '--all');
    runGit(home.work, 'commit', '--quiet', '--message', 'first');
    const run = await home.run(['run', 'go', '--model', 'scripted:rules.json', '--json']);
    assert.equal(run.code, 0, run.stderr);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Trees' }).waitFor();
    writeFileSync(join(home.work, 'shared.txt'), 'mine\n');
    await page.goto(new URL(`/trees/${JSON.parse(run.stdout).id}?tab=files`, link).href);
    await page.getByRole('button', { name: 'Merge…' }).click();
    await page.getByRole('alert').getByText('changes that are not committed: shared.txt').waitFor();
    await page.keyboard.press('Escape');
    runGit(home.work, 'checkout', '--quiet', 'shared.txt');

    await page.getByRole('button', { name: 'Merge…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Merge into main?' });
    await dialog.getByText('test ! -e bad.txt').waitFor();
    assert.equal(existsSync(join(home.work, 'new.txt')), false);
    await assertLooks(dashboard, 'merge');
    await dialog.getByRole('button', { name: 'Merge' }).click();
    const done = page.getByRole('dialog', { name: 'Merged into main' });
    await done.getByText(/^adds \(.*\): merged as \w{12}$/).waitFor();
    await done
      .getByText(/^breaks \(.*\): the test failed \(exit 1\), not merged; breaks was told$/)
      .waitFor();
    await assertLooks(dashboard, 'merged');
    await page.keyboard.press('Escape');
    assert.equal(existsSync(join(home.work, 'new.txt')), true);
    assert.equal(runGit(home.work, 'status', '--porcelain'), '');
    assert.deepEqual(
      faults.filter((fault) => !/409/.test(fault)),
      [],
    );
  } finally {
    await dashboard.close();
  }
});
