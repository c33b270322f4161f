// Proves that under the slash vocabulary no letter is lost, duplicated or announced twice when a run is killed with SIGKILL while letters arrive, are
// announced and are read.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { CliResult } from '../cli/residents.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { noticesOf, shownLetters } from '../runtime/toolsets/slash-stage.ts';

const CHILDREN = 12;

const completion = '{"status": "idle", "success": true, "summary": "I am {{agent.name}}"}';
const slash = (command: string) => ({ name: 'slash', input: { command } });
const forks = { ...slash('fork "child {{index}}"'), repeat: CHILDREN };

/** The root forks and reads its mail when notified; the children each run one command and report, one after the other. */
const RULES = {
  rules: [
    { when: { root: true, step: 0 }, calls: [forks] },
    { when: { root: true, tool: 'slash' }, say: 'Noted.' },
    { when: { root: true, user: '^got mail from ' }, calls: [slash('check-mail')], delay_ms: 20 },
    ...Array.from({ length: CHILDREN }, (_, index) => ({
      when: { agent: `child-${index}`, step: 0 },
      calls: [{ name: 'bash', input: { command: 'echo {{agent.name}}' } }],
      delay_ms: 200 * index,
    })),
    { when: { root: false, step: 1 }, calls: [slash(`send {{parent_id}} '${completion}'`)] },
    { when: { root: false }, say: 'Reported.' },
  ],
};

interface Seen {
  readonly type: string;
  readonly message?: {
    readonly kind: string;
    readonly content: { readonly origin?: string; readonly output?: string };
  };
}

const isMail = (event: Seen) => event.type === 'mail';
const isNotice = (event: Seen) => event.message?.content.origin === 'mail';
const isRead = (event: Seen) => event.message?.content.output?.startsWith('[{') === true;

/** Runs until the `count`-th event that matches `fatal`, then kills; with null, runs to the end. */
async function live(
  home: Home,
  args: readonly string[],
  fatal: ((event: Seen) => boolean) | null,
  count: number,
): Promise<CliResult> {
  const { child, ended } = home.start(args);
  let [left, line] = [count, ''];
  child.stdout?.on('data', (text: string) => {
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    for (const one of lines) {
      if (fatal?.(JSON.parse(one) as Seen) !== true) continue;
      left -= 1;
      if (left === 0) child.kill('SIGKILL');
    }
  });
  return ended;
}

it('twelve children, the process killed at letters, at a notice and at a reading', async () => {
  // On a busy machine the run may end before a kill arrives.
  for (let tries = 0; tries < 10; tries += 1) if (await isKilledAndWhole()) return;
  assert.fail('the faults must fire');
});

/** Returns false if the run ended by itself before all kills. */
async function isKilledAndWhole(): Promise<boolean> {
  const home = makeHome();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
  const common = ['--model', 'scripted:rules.json', '--events'];
  const first = ['run', 'go', '--toolset', 'slash', '--yes', '--limit', 'children=12', ...common];
  const deaths = [
    [isMail, 2],
    [isNotice, 1],
    [isRead, 1],
    [isMail, 2],
  ] as const;
  for (const [fatal, count] of deaths) {
    const args = existsSync(home.database) ? ['resume', ...common] : first;
    const { code, signal, stderr } = await live(home, args, fatal, count);
    if (signal === 'SIGKILL') continue;
    assert.equal(code, 0, stderr);
    return false;
  }
  const last = await live(home, ['resume', ...common], null, 0);
  assert.equal(last.code, 0, last.stderr);

  const store = await openStore(`sqlite:${home.database}`);
  const agents = await store.agents({});
  assert.equal(agents.length, CHILDREN + 1, 'every child exists once');
  assert.ok(agents.every((agent) => agent.state.type === 'idle'));
  const root = agents.find((agent) => agent.parent_id === null);
  assert.ok(root !== undefined);
  const mail = await store.mail(root.id, true);
  assert.equal(mail.length, CHILDREN);
  assert.equal(new Set(mail.map((letter) => letter.from_id)).size, CHILDREN);
  assert.ok(mail.every((letter) => letter.consumed_seq !== null));
  const results = (await store.history(root.id)).flatMap((message) =>
    message.kind === 'result' ? [message.content] : [],
  );
  assert.deepEqual(
    shownLetters(results).map((letter) => [letter.from, letter.completion?.summary]),
    mail.map((letter) => [letter.from_id, `I am ${letter.from_name}`]),
    'each letter read once, in order',
  );
  const named = (await noticesOf({ store }, root.id)).flatMap((notice) => notice.split('\n'));
  assert.equal(new Set(named).size, named.length, 'nobody wrote twice, so nobody is named twice');
  await store.close();
  return true;
}
