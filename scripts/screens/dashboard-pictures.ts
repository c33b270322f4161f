import { join } from 'node:path';
import { openDashboard } from '../../test/serve/pages/dashboard.ts';

/** Writes the pictures of the dashboard, taken of a real server in a real browser, into docs/images/. */
const IMAGES = join(import.meta.dirname, '../../docs/images');
const SIZE = { width: 1_200, height: 960 };

const SCOUTS = {
  'db-reader': {
    delay_ms: 400,
    command: 'grep -rn "open(" src',
    seconds: 0.9,
    said: 'db.ts opens the pool twice.',
  },
  'log-reader': { delay_ms: 700, command: 'wc -l src/*.ts', seconds: 0.5, said: 'The log is never closed.' },
  'test-runner': { delay_ms: 300, command: 'npm test', seconds: 2.1, said: '41 of 42 tests pass.' },
  'route-reader': { delay_ms: 900, command: 'ls -R src/routes', seconds: 0.4, said: 'Routes are fine.' },
  'style-reader': { delay_ms: 600, command: 'git log --oneline -20', seconds: 0.7, said: 'Nothing to say.' },
};
const SCRIPT = Object.entries(SCOUTS).flatMap(([agent, { delay_ms, command, seconds, said }]) => [
  {
    when: { agent, step: 0 },
    ...{ delay_ms, say: `I look at what ${agent} is for.` },
    calls: [{ name: 'bash', input: { command: `${command}; sleep ${seconds}` } }],
  },
  { when: { agent, step: 1 }, ...{ delay_ms: 500, say: said } },
]);
const RULES = [
  {
    when: { root: true, step: 0 },
    ...{ delay_ms: 600, say: 'I split the audit among six.' },
    calls: [...Object.keys(SCOUTS), 'dependency-scout'].map((name) => ({
      name: 'fork',
      input: { name, prompt: 'Look, then report.' },
    })),
  },
  {
    when: { root: true, step: 1 },
    delay_ms: 300,
    calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  {
    when: { agent: 'dependency-scout' },
    ...{ delay_ms: 1_200, say: 'The pool leaks. I close it.' },
    calls: [
      {
        name: 'write',
        input: {
          path: 'src/db.ts',
          content: 'const db = open(file);\n\nexport function close() {\n  db.close();\n}\n',
        },
      },
    ],
  },
  ...SCRIPT,
];

const dashboard = await openDashboard(RULES, {
  agents: { defaults: { permissions: { allow: ['bash:*'] } } },
});
try {
  const { page, link, home } = dashboard;
  await page.goto(link);
  await page.getByRole('heading', { name: 'Trees' }).waitFor();
  const task = 'Audit this shop: what is opened and never closed?';
  const run = await home.run(['run', task, '--detach', '--model', 'scripted:rules.json', '--json']);
  const { id, agents } = JSON.parse(run.stdout) as {
    id?: string;
    agents?: readonly { readonly id: string }[];
  };
  await page.goto(new URL(`/trees/${id ?? agents?.[0]?.id}`, link).href);
  await page.getByText('wants write').waitFor();
  await page.setViewportSize(SIZE);
  await page.waitForTimeout(12_000);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(IMAGES, `dashboard-${colorScheme}.png`) });
  }
} finally {
  await dashboard.close();
}
process.exit(0);
