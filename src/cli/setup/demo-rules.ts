import type { Model } from '../../models/model.ts';
import { createScriptedModel } from '../../models/scripted/scripted-model.ts';
import type { ScriptedRules } from '../../models/scripted/scripted-rules.ts';

export const DEMO_MODEL = 'scripted/demo';
export const DEMO_TOOLS = ['bash', 'read', 'search'];

/** Returns the model of the demo by name, so that a stopped demo can be resumed. `slow`: at a pace that a person can follow. */
export function demoModels(slow: boolean): ReadonlyMap<string, Model> {
  return new Map([[DEMO_MODEL, createScriptedModel(demoRules(slow ? 1 : 0), 'demo')]]);
}

/** Commands that only read, print something in any folder, and have bounded output. */
const FIND = 'find . -xdev \\( -name .git -o -name node_modules \\) -prune -o';

const COMMANDS = {
  tree: `# count files and folders\n${FIND} -type f -print0 2>/dev/null | head -z -n 20000 | tr -cd '\\0' | wc -c | awk '{ print $1 " files" }'; ${FIND} -type d -print0 2>/dev/null | head -z -n 20000 | tr -cd '\\0' | wc -c | awk '{ print $1 " folders" }'`,
  size: '# size on disk\ndu -sh -- . 2>/dev/null | cut -f1 | sed "s/^/size on disk: /"',
  newest: `# what changed last\n${FIND} -type f -printf '%TY-%Tm-%Td  %f\\n' 2>/dev/null | sort -r | head -n 3 | cut -c1-70; echo "(newest first)"`,
  kinds: `# kinds of files\n${FIND} -type f -printf '%f\\n' 2>/dev/null | head -n 20000 | sed -n 's/.*\\.\\([A-Za-z0-9]\\{1,8\\}\\)$/.\\1/p' | sort | uniq -c | sort -rn | head -n 5 | awk '{ print $2 ": " $1 " files" }'; echo "(by ending)"`,
  lines: `# lines of code and text\n${FIND} -type f -size -256k \\( -name '*.ts' -o -name '*.js' -o -name '*.py' -o -name '*.go' -o -name '*.rs' -o -name '*.c' -o -name '*.java' -o -name '*.md' \\) -print0 2>/dev/null | head -z -n 5000 | xargs -0 -r cat -- 2>/dev/null | wc -l | awk '{ print $1 " lines of code and text" }'`,
  tests: `# test files\n${FIND} -type f \\( -name '*.test.*' -o -name '*_test.*' -o -name 'test_*' -o -name '*.spec.*' \\) -print0 2>/dev/null | head -z -n 20000 | tr -cd '\\0' | wc -c | awk '{ print $1 " test files" }'`,
  runner:
    '# build files\nfor f in package.json Makefile pyproject.toml Cargo.toml go.mod pom.xml; do [ -f "$f" ] && echo "build file: $f"; done; echo "(build files looked for: 6 kinds)"',
  shell: '# what would run them\nbash --version | head -n 1 | cut -c1-60; uname -sm',
} as const;

/** Commands that may run without a sandbox where none is available, because they only read: the demo, which people try first, works everywhere. */
export const DEMO_COMMANDS: ReadonlySet<string> = new Set(Object.values(COMMANDS));

const bash = (say: string, command: string) => ({ say, name: 'bash', input: { command } });

const WORKERS = [
  {
    name: 'file-reader',
    prompt: 'Count what is here: files, folders, size, what changed last.',
    steps: [
      bash('Counting.', COMMANDS.tree),
      bash('And how much is it?', COMMANDS.size),
      bash('What changed last?', COMMANDS.newest),
    ],
  },
  {
    name: 'code-analyzer',
    prompt: 'Find out what kinds of files there are, how much code, and what is left to do in it.',
    steps: [
      bash('Which kinds of files?', COMMANDS.kinds),
      bash('How much of it is text?', COMMANDS.lines),
      { say: 'Any notes to self?', name: 'search', input: { pattern: '\\b(TODO|FIXME)\\b', max_results: 3 } },
    ],
  },
  {
    name: 'test-runner',
    prompt: 'Find the tests and how they would be run here.',
    steps: [
      bash('Looking for tests.', COMMANDS.tests),
      bash('And for build files.', COMMANDS.runner),
      bash('What would run them?', COMMANDS.shell),
    ],
  },
];

function demoRules(pace: number): ScriptedRules {
  const workers = WORKERS.flatMap((worker, place) => {
    const results = (step: number) =>
      worker.steps[step]?.name === 'search' ? '{{results.search.0}}' : `{{results.bash.${step}}}`;
    const findings = worker.steps.map((_, step) => results(step)).join('\n');
    const when = (step: number) => ({ agent: worker.name, step });
    return [
      ...worker.steps.map((step, index) => ({
        when: when(index),
        say: step.say,
        calls: [{ name: step.name, input: step.input }],
        delay_ms: pace * (1200 + 500 * place + 300 * index),
        chunk_ms: pace * 30,
      })),
      {
        when: when(worker.steps.length),
        say: 'That is all I need.',
        calls: [{ name: 'send', input: { to: '{{parent_id}}', message: findings } }],
        delay_ms: pace * (900 + 400 * place),
      },
      {
        when: when(worker.steps.length + 1),
        say: 'Reported. Idle until there is more to do.',
        delay_ms: pace * 400,
      },
    ];
  });
  return {
    rules: [
      {
        when: { root: true, step: 0 },
        say: 'Three independent questions: I fork a child for each.',
        calls: WORKERS.map(({ name, prompt }) => ({ name: 'fork', input: { name, prompt } })),
        delay_ms: pace * 1200,
        chunk_ms: pace * 40,
      },
      {
        when: { root: true, step: 1 },
        say: 'They work side by side. I wait for all three.',
        calls: [{ name: 'wait', input: { timeout: 120, from_agents: '{{results.fork.*.agent_id}}' } }],
        delay_ms: pace * 800,
      },
      {
        when: { root: true, step: 2 },
        say: `Report on this folder, by three agents (a scripted demo: the words are written, the findings are real)
{{#each results.wait.-1.results}}
{{.name}} ({{.status}})
{{.message}}
{{/each}}`,
        delay_ms: pace * 900,
        chunk_ms: pace * 15,
      },
      ...workers,
      // Answer to whatever a person types after the demo.
      {
        say: 'This was the demo: I follow a script and cannot answer. /setup leads to a model of your own, by a key or a local server (elsewhere: coppice setup).',
      },
    ],
  };
}
