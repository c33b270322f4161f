/**
 * Fan-out: five ways to put sub-agents to work side by side on one small project: perspectives of a review, parts of a codebase, one
 * deep dive, two approaches compared, three personas. The sub-agents look into real files with real tools; their words are scripted,
 * so the example runs offline and its outcome is known.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createScriptedModel, openCoppice } from 'coppice';

const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));
const project = join(folder, 'project');

const FILES: Readonly<Record<string, string>> = {
  'src/auth/login.ts':
    "const PASSWORD = 'letmein';\nexport function login(given: string) {\n  return given === PASSWORD;\n}\n",
  'src/auth/session.ts':
    'export async function sessions(ids: string[]) {\n  for (const id of ids) await query(id); // one query for each\n}\n',
  'src/api/routes.ts': "export const routes = ['GET /health', 'POST /login'];\n",
  'src/db/schema.sql': 'CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT);\n',
  'src/core/errors.ts':
    'export class AppError extends Error {\n  status = 500; // told to the user as it is\n}\n',
  'docs/api.md': '# API\n\nPOST /login answers 200 with a token, or 401.\n',
};

for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

/** A sub-agent: its task, the one look that it takes, and what it then says. */
interface Look {
  readonly label: string;
  readonly task: string;
  readonly tool: 'search' | 'read';
  readonly input: Readonly<Record<string, unknown>>;
  readonly says: string;
  /** What its result must tell of the files. */
  readonly finds: RegExp;
}

interface Story {
  readonly question: string;
  readonly looks: readonly Look[];
}

const search = (pattern: string, path: string) =>
  ({ tool: 'search', input: { pattern, path } }) as const satisfies Partial<Look>;
const read = (path: string) => ({ tool: 'read', input: { path } }) as const satisfies Partial<Look>;

const STORIES: readonly Story[] = [
  {
    question: 'Review the authentication module for potential issues',
    looks: [
      {
        label: 'security',
        task: 'Review src/auth/ from a security perspective. Look for vulnerabilities, credential handling issues, and attack vectors.',
        ...search('PASSWORD =', 'src/auth'),
        says: 'A password stands in the source:',
        finds: /login\.ts:1:.*letmein/,
      },
      {
        label: 'maintainability',
        task: 'Review src/auth/ from a maintainability perspective. Assess code clarity, test coverage, and documentation.',
        ...search('describe\\(', 'src/auth'),
        says: 'Tests of this module:',
        finds: /nothing found/,
      },
      {
        label: 'performance',
        task: 'Review src/auth/ from a performance perspective. Identify bottlenecks, unnecessary allocations, or N+1 patterns.',
        ...search('await query', 'src/auth'),
        says: 'One query for each session:',
        finds: /session\.ts:2:/,
      },
    ],
  },
  {
    question: "I'm new to this project. Help me understand the architecture.",
    looks: [
      {
        label: 'database',
        task: 'Explore the database layer. Document the schema, key queries, and data access patterns.',
        ...read('src/db/schema.sql'),
        says: 'The schema:',
        finds: /CREATE TABLE users/,
      },
      {
        label: 'api',
        task: 'Explore the API layer. Document the endpoints, request/response formats, and middleware.',
        ...read('src/api/routes.ts'),
        says: 'The endpoints:',
        finds: /POST \/login/,
      },
      {
        label: 'core',
        task: 'Explore the core business logic. Document the main abstractions and how they interact.',
        ...search('export class', 'src/core'),
        says: 'The abstractions:',
        finds: /AppError/,
      },
    ],
  },
  {
    question: 'How does error handling work in this codebase?',
    looks: [
      {
        label: 'errors',
        task: 'Thoroughly investigate error handling patterns in this codebase. Trace how errors propagate from tools through the state machine to the API. Document the error types, conversion points, and user-facing messages.',
        ...read('src/core/errors.ts'),
        says: 'One class for all errors, and its status reaches the user:',
        finds: /status = 500/,
      },
    ],
  },
  {
    question: 'Should we use approach A or B for the new feature?',
    looks: [
      {
        label: 'approach-a',
        task: 'Analyze approach A: a column in the users table. Evaluate pros, cons, implementation complexity, and how it fits with existing patterns in this codebase.',
        ...search('CREATE TABLE', 'src'),
        says: 'A is one more column here:',
        finds: /schema\.sql:1:/,
      },
      {
        label: 'approach-b',
        task: 'Analyze approach B: a service of its own. Evaluate pros, cons, implementation complexity, and how it fits with existing patterns in this codebase.',
        ...search('fetch\\(', 'src'),
        says: 'B would be the first to call another service; calls so far:',
        finds: /nothing found/,
      },
    ],
  },
  {
    question: 'Get feedback on this API design from different stakeholders',
    looks: [
      {
        label: 'frontend',
        task: 'Review the API design as a frontend developer. Is it easy to consume? Are the response shapes convenient? Is error handling clear?',
        ...read('docs/api.md'),
        says: 'What I can rely on:',
        finds: /200 with a token, or 401/,
      },
      {
        label: 'devops',
        task: "Review the API design as a DevOps engineer. Is it easy to monitor? Are there health checks? How's the logging?",
        ...search('health', 'src/api'),
        says: 'There is a health check:',
        finds: /GET \/health/,
      },
      {
        label: 'newcomer',
        task: 'Review the API design as a new team member. Is it well documented? Are the conventions consistent? Can you understand it without tribal knowledge?',
        ...search('health', 'docs'),
        says: 'Written down about the health check:',
        finds: /nothing found/,
      },
    ],
  },
];

const model = createScriptedModel(
  {
    rules: [
      ...STORIES.map(({ question, looks }) => ({
        when: { root: true, step: 0, user: `^${question.replaceAll('?', '\\?')}$` },
        calls: [
          { name: 'spawn_agents', input: { tasks: looks.map(({ label, task }) => ({ label, task })) } },
        ],
      })),
      { when: { root: true }, say: '{{user}}' },
      ...STORIES.flatMap(({ looks }) =>
        looks.flatMap(({ label, tool, input, says }) => [
          { when: { agent: label, step: 0 }, calls: [{ name: tool, input }] },
          {
            when: { agent: label },
            calls: [{ name: 'submit_result', input: { result: `${says}\n{{result}}` } }],
          },
        ]),
      ),
    ],
  },
  'fan-out',
);

const coppice = await openCoppice({
  database: `sqlite:${join(folder, 'example.db')}`,
  model: 'example',
  models: { example: model },
  toolsets: ['fanout'],
  builtInTools: ['read', 'search'],
  cwd: project,
});

for (const { question, looks } of STORIES) {
  console.log(`\n${question}`);
  const { reply, failure } = await (await coppice.start({ prompt: question })).result();
  assert.equal(failure, null);
  const { sub_agent_results } = JSON.parse(reply) as {
    sub_agent_results: { task: string; outcome: { success?: { result: string } } }[];
  };
  // One result for each task, in the order of the tasks, whoever was done first; it names the label.
  assert.deepEqual(
    sub_agent_results.map(({ task }) => task),
    looks.map(({ label }) => label),
  );
  for (const [place, { label, finds }] of looks.entries()) {
    const result = sub_agent_results[place]?.outcome.success?.result ?? '';
    assert.match(result, finds);
    console.log(`  ${label}: ${result.trim().replaceAll('\n', '\n    ')}`);
  }
}

await coppice.close();
rmSync(folder, { recursive: true });
console.log(`\n${STORIES.length} questions, ${STORIES.flatMap(({ looks }) => looks).length} sub-agents.`);
