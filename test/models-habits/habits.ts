import { FORMS } from './forms.ts';

/** A call as a model writes it: its name, and its arguments as a value or as raw text. */
export type Written = readonly [name: string, input: unknown];

/** Toolset of the agent that makes the call; `child`: a child of spawn_agents. */
export type Who = 'process' | 'fanout' | 'child' | 'sessions' | 'delegate' | 'slash' | 'tasks' | 'server';

/** What a model does out of habit. `reads`: the calls that must come of it. `answers`: what the error must say, and the call that it must show. */
export interface Habit {
  readonly who: Who;
  /** Calls, or the text of an answer. */
  readonly wrote: readonly Written[] | string;
  readonly reads?: readonly Written[];
  readonly answers?: RegExp;
}

const read = (who: Who, name: string, wrote: unknown, meant: unknown): Habit => ({
  who,
  wrote: [[name, wrote]],
  reads: [[name, meant]],
});
const named = (who: Who, wrote: string, meant: string, input: unknown, as = input): Habit => ({
  who,
  wrote: [[wrote, as]],
  reads: [[meant, input]],
});
const text = (wrote: string, ...reads: Written[]): Habit => ({ who: 'process', wrote, reads });
const answer = (who: Who, name: string, input: unknown, answers: RegExp): Habit => ({
  who,
  wrote: [[name, input]],
  answers,
});

const LS = { command: 'ls' };
const A = { path: 'a.txt' };
const ONCE = { path: 'a.txt', edits: [{ old_text: 'a', new_text: 'b', replace_all: false }] };
const EVERYWHERE = { path: 'a.txt', edits: [{ old_text: 'a', new_text: 'b', replace_all: true }] };
const EDIT = { path: 'a.txt', edits: [{ old_text: 'a', new_text: 'b' }] };
const B = 'b0000000-0000-4000-8000-000000000001';

const FORKS = [
  { name: 'a', prompt: 'Fix a.js' },
  { name: 'b', prompt: 'Fix b.js' },
];

const PATCH = `*** Begin Patch
*** Update File: a.txt
@@ class A
 one
-two
+2
 three
@@
-four
*** Add File: b.txt
+new
+file
*** End Patch`;
const PATCHED: readonly Written[] = [
  [
    'patch',
    {
      path: 'a.txt',
      edits: [
        { old_text: 'one\ntwo\nthree', new_text: 'one\n2\nthree' },
        { old_text: 'four\n', new_text: '' },
      ],
    },
  ],
  ['write', { path: 'b.txt', content: 'new\nfile\n' }],
];

export const HABITS: readonly Habit[] = [
  // Several of what a call takes one of, as a list.
  ...[
    { tasks: FORKS },
    { agents: FORKS },
    FORKS,
    { forks: FORKS.map(({ name, prompt }) => ({ name, task: prompt })) },
  ].map(
    (list): Habit => ({
      who: 'process',
      wrote: [['fork', list]],
      reads: FORKS.map((one) => ['fork', one]),
    }),
  ),
  {
    who: 'sessions',
    wrote: [['sessions_spawn', { tasks: [{ task: 'a' }, { prompt: 'b', name: 'b' }] }]],
    reads: [
      ['sessions_spawn', { task: 'a' }],
      ['sessions_spawn', { task: 'b', label: 'b' }],
    ],
  },
  answer(
    'process',
    'fork',
    {
      tasks: [
        { name: 'a', prompt: 'p' },
        { name: 'b', colour: 'red' },
      ],
    },
    /fork \{"name"/,
  ),
  // Commands of slash, called by their names.
  named('slash', 'check-mail', 'slash', { command: 'check-mail' }, {}),
  named('slash', 'send', 'slash', { command: `send ${B} hi` }, { to: B, message: 'hi' }),
  named('slash', 'fork', 'slash', { command: 'fork Fix a.js' }, { prompt: 'Fix a.js' }),
  named(
    'slash',
    'Agent',
    'slash',
    { command: 'fork Fix a.js' },
    { description: 'a', prompt: 'Fix a.js', subagent_type: 'general-purpose' },
  ),
  answer('slash', 'Agent', { prompt: '--worktree is what I mean' }, /slash \{"command":"fork --worktree/),
  answer(
    'process',
    'sed',
    { expression: 's/a/b/' },
    /For that there is bash: bash \{"command":"<command>"\}/,
  ),
  // Fields in one object, where none can stand; one that is a text stays what it is.
  read('process', 'fork', { agent: { name: 'a', prompt: 'p' } }, { name: 'a', prompt: 'p' }),
  read('process', 'wait', { options: { timeout_seconds: 5, agents: [] } }, { timeout: 5, from_agents: [] }),
  read('process', 'write', { path: 'a', data: { text: 'x' } }, { path: 'a', content: '{\n  "text": "x"\n}' }),
  read(
    'process',
    'send',
    { to: B, message: { text: 'x', to: 'y' } },
    { to: B, message: '{"text":"x","to":"y"}' },
  ),
  // A patch as Codex writes it, in each way of handing it over.
  { who: 'process', wrote: [['apply_patch', { input: `${PATCH}\n` }]], reads: PATCHED },
  { who: 'process', wrote: [['functions.apply_patch', { patch: PATCH }]], reads: PATCHED },
  { who: 'process', wrote: [['shell', { command: ['apply_patch', PATCH], workdir: '.' }]], reads: PATCHED },
  {
    who: 'delegate',
    wrote: [['bash', { command: `apply_patch <<'EOF'\n${PATCH}\nEOF\n` }]],
    reads: PATCHED,
  },
  answer('process', 'apply_patch', { input: PATCH.replace('-four', '+four') }, /patch \{"path":"<path>"/),
  answer('process', 'apply_patch', { input: PATCH.replace('Add', 'Delete') }, /patch \{"path":"<path>"/),
  answer('process', 'read_many_files', { paths: ['src/**', 'a'] }, /read \{"path":"<path>"\}/),
  // Commas behind the last item, in calls and in texts.
  read('process', 'wait', '{"timeout": 5, "from_agents": ["a,]", "b",],}', {
    ...{ timeout: 5, from_agents: ['a,]', 'b'] },
  }),
  text('<tool_call>{"name": "bash", "arguments": {"command": "ls",},}</tool_call>', ['bash', LS]),
  // Parameters of other programs' shells and spawners.
  named('process', 'exec_command', 'bash', LS, { cmd: 'ls', yield_time_ms: 1000, max_output_tokens: 500 }),
  named('process', 'run_shell_command', 'bash', LS, { command: 'ls', directory: '.', description: 'x' }),
  read('process', 'bash', { command: 'ls', timeout: 60_000 }, { command: 'ls', timeout: 60 }),
  read('process', 'bash', { command: 'ls', timeout: '600000' }, { command: 'ls', timeout: 600 }),
  read('sessions', 'sessions_spawn', { task: 'x', agentId: 'main' }, { task: 'x' }),
  answer('process', 'bash', { command: 'ls', directory: '/tmp' }, /"directory": not known/),
  // A plan is a thought for who has no task list.
  named(
    'process',
    'TodoWrite',
    'think',
    { thought: '[{"content":"x","status":"pending"}]' },
    {
      todos: [{ content: 'x', status: 'pending' }],
    },
  ),
  named(
    'process',
    'update_plan',
    'think',
    { thought: '[{"step":"x"}]' },
    {
      ...{ explanation: 'why', plan: [{ step: 'x' }] },
    },
  ),
  read(
    'process',
    'fork',
    { prompt: 'find it', description: 'Finder', subagent_type: 'Explore' },
    { name: 'Finder', prompt: 'find it', profile: 'explore' },
  ),
  // bash
  read('process', 'bash', { cmd: 'ls' }, LS),
  read('process', 'bash', { shell_command: 'ls' }, LS),
  read('process', 'bash', { command: ['bash', '-lc', 'ls -la | wc'] }, { command: 'ls -la | wc' }),
  read('process', 'bash', { command: ['/bin/sh', '-c', 'ls'] }, LS),
  read('process', 'bash', { command: ['git', 'status', '--short'] }, { command: 'git status --short' }),
  read('process', 'bash', { command: ['ls'] }, LS),
  read('process', 'bash', { command: 'ls', description: 'List the files' }, LS),
  read('process', 'bash', { command: 'ls', explanation: 'to see' }, LS),
  read('process', 'bash', { command: 'ls', run_in_background: false }, LS),
  read('process', 'bash', { command: 'ls', run_in_background: 'false', description: 'x' }, LS),
  read('process', 'bash', { command: 'ls', is_background: false, explanation: 'x' }, LS),
  read('process', 'bash', { command: 'ls', dangerouslyDisableSandbox: false }, LS),
  read('process', 'bash', { command: 'ls', sandbox_permissions: 'use_default', justification: 'x' }, LS),
  read('process', 'bash', { command: 'ls', with_escalated_permissions: false }, LS),
  read('process', 'bash', { command: 'ls', timeout: '30' }, { command: 'ls', timeout: 30 }),
  read('process', 'bash', { command: 'ls', timeout: '30s' }, { command: 'ls', timeout: 30 }),
  read('process', 'bash', { command: 'ls', timeout: '2 minutes' }, { command: 'ls', timeout: 120 }),
  read('process', 'bash', { command: 'ls', timeout: '1m' }, { command: 'ls', timeout: 60 }),
  read('process', 'bash', { command: 'ls', timeout: null }, LS),
  read('process', 'bash', { command: 'ls', timeout_ms: 30_000 }, { command: 'ls', timeout: 30 }),
  read('process', 'bash', { cmd: 'ls', timeoutMs: '5000' }, { command: 'ls', timeout: 5 }),
  read('process', 'bash', { command: 'ls', timeoutSeconds: 9 }, { command: 'ls', timeout: 9 }),
  read('process', 'bash', { command: 'ls', timeout_seconds: '9' }, { command: 'ls', timeout: 9 }),
  read('process', 'bash', { arguments: { command: 'ls' } }, LS),
  read('process', 'bash', { input: '{"command": "ls"}' }, LS),
  read('process', 'bash', '"{\\"command\\": \\"ls\\"}"', LS),
  read('process', 'bash', '"ls"', LS),
  read('process', 'bash', 'ls', LS),
  read('process', 'bash', '```json\n{"command": "ls"}\n```', LS),
  read('process', 'bash', '{"command": "cat <<E\n\tx\nE"}', { command: 'cat <<E\n\tx\nE' }),
  read('process', 'bash', { Command: 'ls' }, LS),
  read('process', 'bash', { command: 'ls', cmd: 'ls' }, LS),
  named('process', 'Bash', 'bash', LS),
  named('process', 'BASH', 'bash', LS),
  named('process', 'functions.bash', 'bash', LS),
  named('process', 'functions.bash:0', 'bash', LS),
  named('process', 'tools.bash', 'bash', LS),
  named('process', 'default_api.bash', 'bash', LS),
  { who: 'process', wrote: [['Bash', { cmd: 'ls', description: 'x' }]], reads: [['bash', LS]] },
  {
    who: 'process',
    wrote: [
      [
        'multi_tool_use.parallel',
        {
          tool_uses: [
            { recipient_name: 'functions.bash', parameters: LS },
            { recipient_name: 'functions.read', parameters: { file_path: 'a.txt' } },
          ],
        },
      ],
    ],
    reads: [
      ['bash', LS],
      ['read', A],
    ],
  },
  {
    who: 'process',
    wrote: [['multi_tool_use_parallel', { tool_uses: [{ recipient_name: 'Read', parameters: A }] }]],
    reads: [['read', A]],
  },
  {
    who: 'process',
    wrote: [['parallel', { tool_uses: [{ recipient_name: 'functions.read', parameters: A }] }]],
    reads: [['read', A]],
  },
  // files
  read('process', 'read', { file_path: 'a.txt' }, A),
  read('process', 'read', { filePath: 'a.txt' }, A),
  read('process', 'read', { filename: 'a.txt' }, A),
  read('process', 'read', { file: 'a.txt' }, A),
  read('process', 'read', { absolute_path: '/tmp/a.txt' }, { path: '/tmp/a.txt' }),
  read('process', 'read', { target_file: 'a.txt', explanation: 'to see' }, A),
  read('process', 'read', { directory: 'src' }, { path: 'src' }),
  read('process', 'read', { path: ['a.txt'] }, A),
  read(
    'process',
    'read',
    { path: 'a.txt', offset: '5', limit: '10' },
    { path: 'a.txt', offset: 5, limit: 10 },
  ),
  read('process', 'read', { path: 'a.txt', offset: null, limit: null }, A),
  read('process', 'read', { path: 'a.txt', limit: '' }, A),
  read('process', 'read', { path: 'a.txt', start_line: 3 }, { path: 'a.txt', offset: 3 }),
  read('process', 'read', '"a.txt"', A),
  read('process', 'read', 'a.txt', A),
  named('process', 'Read', 'read', A),
  { who: 'process', wrote: [['Read', { file_path: 'a.txt' }]], reads: [['read', A]] },
  read('process', 'write', { file_path: 'a.txt', content: 'x' }, { path: 'a.txt', content: 'x' }),
  read('process', 'write', { path: 'a.txt', contents: 'x' }, { path: 'a.txt', content: 'x' }),
  read('process', 'write', { path: 'a.txt', file_text: 'x' }, { path: 'a.txt', content: 'x' }),
  read('process', 'write', { path: 'a.txt', text: 'x' }, { path: 'a.txt', content: 'x' }),
  read(
    'process',
    'write',
    { path: 'a.json', content: { a: 1 } },
    { path: 'a.json', content: '{\n  "a": 1\n}' },
  ),
  read('process', 'write', { path: 'a.txt', content: 42 }, { path: 'a.txt', content: '42' }),
  {
    who: 'process',
    wrote: [['Write', { file_path: 'a.txt', content: 'x' }]],
    reads: [['write', { path: 'a.txt', content: 'x' }]],
  },
  read('process', 'patch', { file_path: 'a.txt', old_string: 'a', new_string: 'b' }, EDIT),
  read('process', 'patch', { path: 'a.txt', old_text: 'a', new_text: 'b' }, EDIT),
  read('process', 'patch', { path: 'a.txt', old_str: 'a', new_str: 'b' }, EDIT),
  read('process', 'patch', { path: 'a.txt', old_string: 'a', new_string: 'b', replace_all: false }, ONCE),
  named('process', 'Edit', 'patch', EDIT, { file_path: 'a.txt', old_string: 'a', new_string: 'b' }),
  named('process', 'str_replace', 'patch', EDIT, { path: 'a.txt', old_str: 'a', new_str: 'b' }),
  named('process', 'MultiEdit', 'patch', EDIT, {
    file_path: 'a.txt',
    edits: [{ old_string: 'a', new_string: 'b' }],
  }),
  named('process', 'Edit', 'patch', EVERYWHERE, {
    ...{ file_path: 'a.txt', old_string: 'a', new_string: 'b', replace_all: true },
  }),
  read(
    'process',
    'patch',
    { path: 'a.txt', old_string: 'a', new_string: 'b', replace_all: true },
    EVERYWHERE,
  ),
  read('process', 'patch', { path: 'a.txt', edits: { old_text: 'a', new_text: 'b' } }, EDIT),
  read('process', 'patch', { path: 'a.txt', edits: '[{"old_text":"a","new_text":"b"}]' }, EDIT),
  read('process', 'patch', { path: 'a.txt', edits: '{"old_string":"a","new_string":"b"}' }, EDIT),
  read('process', 'patch', { path: 'a.txt', edits: [{ oldText: 'a', newText: 'b' }] }, EDIT),
  read('process', 'patch', { path: 'a.txt', edits: [{ search: 'a', replace: 'b' }] }, EDIT),
  read(
    'process',
    'patch',
    { file_path: 'a.txt', edits: [{ old_string: 'a', new_string: 'b', replace_all: false }] },
    ONCE,
  ),
  read('process', 'patch', { path: 'a.txt', changes: [{ old_text: 'a', new_text: 'b' }] }, EDIT),
  named('process', 'Patch', 'patch', EDIT),
  read('process', 'search', { query: 'x' }, { pattern: 'x' }),
  read('process', 'search', { regex: 'x', include: '*.ts' }, { pattern: 'x', glob: '*.ts' }),
  read('process', 'search', { pattern: 'x', '-i': true }, { pattern: 'x', ignore_case: true }),
  read('process', 'search', { pattern: 'x', case_insensitive: 'true' }, { pattern: 'x', ignore_case: true }),
  read('process', 'search', { pattern: 'x', head_limit: '20' }, { pattern: 'x', max_results: 20 }),
  read('process', 'search', { pattern: 'x', output_mode: 'content', '-n': true }, { pattern: 'x' }),
  read('process', 'search', { pattern: 'x', glob: '', path: '' }, { pattern: 'x' }),
  read('process', 'search', { pattern: 'x', directory: 'src' }, { pattern: 'x', path: 'src' }),
  named('process', 'Search', 'search', { pattern: 'x' }),
  read('process', 'think', { thinking: 'hm' }, { thought: 'hm' }),
  read('process', 'think', 'Hm, so.', { thought: 'Hm, so.' }),
  read('process', 'web_fetch', { uri: 'https://example.org' }, { url: 'https://example.org' }),
  // process
  read('process', 'fork', { name: 'a', task: 'work' }, { name: 'a', prompt: 'work' }),
  read('process', 'fork', { name: 'a', instructions: 'work' }, { name: 'a', prompt: 'work' }),
  read(
    'process',
    'fork',
    { prompt: 'Count the files' },
    { prompt: 'Count the files', name: 'count-the-files' },
  ),
  read('process', 'fork', { label: 'a', prompt: 'work' }, { name: 'a', prompt: 'work' }),
  read('process', 'fork', { description: 'Count', prompt: 'work' }, { name: 'Count', prompt: 'work' }),
  read(
    'process',
    'fork',
    { description: 'Count', prompt: 'work', subagent_type: 'general-purpose' },
    { name: 'Count', prompt: 'work' },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', run_in_background: false },
    { name: 'a', prompt: 'work' },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', worktree: 'true' },
    { name: 'a', prompt: 'work', worktree: true },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', worktree: 'False' },
    { name: 'a', prompt: 'work', worktree: false },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', read_first: 'a.txt' },
    { name: 'a', prompt: 'work', read_first: ['a.txt'] },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', read_first: '["a.txt"]' },
    { name: 'a', prompt: 'work', read_first: ['a.txt'] },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', files: ['a.txt'] },
    { name: 'a', prompt: 'work', read_first: ['a.txt'] },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', profile: null, model: '' },
    { name: 'a', prompt: 'work' },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', budget: '{"tokens": 100}' },
    { name: 'a', prompt: 'work', budget: { tokens: 100 } },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'work', budget: { tokens: '100' } },
    { name: 'a', prompt: 'work', budget: { tokens: 100 } },
  ),
  read('process', 'fork', { name: 7, prompt: 'work' }, { name: '7', prompt: 'work' }),
  named('process', 'Fork', 'fork', { name: 'a', prompt: 'work' }),
  read('process', 'kill', { id: B }, { agent_id: B }),
  read('process', 'kill', { to: B }, { agent_id: B }),
  read('process', 'kill', { agent_id: [B] }, { agent_id: [B] }),
  read('process', 'kill', { agent_ids: B }, { agent_id: B }),
  read('process', 'kill', { agent_ids: `["${B}"]` }, { agent_id: `["${B}"]` }),
  read('process', 'kill', { agent_id: [B, 'a'] }, { agent_id: [B, 'a'] }),
  read('process', 'kill', { ids: [B] }, { agent_id: B }),
  read('process', 'kill', { agents: [B, 'a'] }, { agent_id: [B, 'a'] }),
  read('process', 'kill', { agentId: B }, { agent_id: B }),
  read('process', 'send', { agent_id: B, message: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { id: B, message: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { recipient: B, content: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { to: B, text: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { to: B, body: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { target: B, prompt: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { to: { agent_id: B, name: 'a' }, message: 'x' }, { to: B, message: 'x' }),
  read('process', 'send', { to: B, message: { done: true } }, { to: B, message: '{"done":true}' }),
  read('process', 'send', { to: ['a', 'b'], message: 'x' }, { to: ['a', 'b'], message: 'x' }),
  read('process', 'send', { to: B, message: 'x', summary: null }, { to: B, message: 'x' }),
  read('process', 'wait', {}, { timeout: 300 }),
  read('process', 'wait', '', { timeout: 300 }),
  read('process', 'wait', { from_agents: [B] }, { timeout: 300, from_agents: [B] }),
  read('process', 'wait', { timeout: '30' }, { timeout: 30 }),
  read('process', 'wait', { timeout: '10m' }, { timeout: 600 }),
  read('process', 'wait', { timeout_seconds: 30 }, { timeout: 30 }),
  read('process', 'wait', { timeoutSeconds: 30 }, { timeout: 30 }),
  read('process', 'wait', { timeout_ms: 30_000 }, { timeout: 30 }),
  read('process', 'wait', { seconds: 30 }, { timeout: 30 }),
  read('process', 'wait', { timeout: 30, from_agents: B }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: 30, agent_ids: [B] }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: 30, agent_id: B }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: 30, agents: [B] }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: 30, ids: `["${B}"]` }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: 30, from_agents: [{ agent_id: B }] }, { timeout: 30, from_agents: [B] }),
  read('process', 'wait', { timeout: '30', from_agents: `["${B}"]` }, { timeout: 30, from_agents: [B] }),
  // fanout
  read('fanout', 'spawn_agents', { tasks: ['a', 'b'] }, { tasks: [{ task: 'a' }, { task: 'b' }] }),
  read('fanout', 'spawn_agents', { tasks: '["a"]' }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { tasks: '[{"task":"a"}]' }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { tasks: { task: 'a' } }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { tasks: 'a' }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { tasks: [{ prompt: 'a' }] }, { tasks: [{ task: 'a' }] }),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ prompt: 'a', description: 'b' }] },
    { tasks: [{ task: 'a', label: 'b' }] },
  ),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', name: 'b' }] },
    { tasks: [{ task: 'a', label: 'b' }] },
  ),
  read('fanout', 'spawn_agents', { agents: [{ task: 'a' }] }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { task: 'a' }, { tasks: [{ task: 'a' }] }),
  read('fanout', 'spawn_agents', { prompt: 'a', label: 'b' }, { tasks: [{ task: 'a', label: 'b' }] }),
  read('fanout', 'spawn_agents', [{ task: 'a' }], { tasks: [{ task: 'a' }] }),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', timeout: '60s' }] },
    { tasks: [{ task: 'a', timeout_seconds: 60 }] },
  ),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', timeoutSeconds: 60 }] },
    { tasks: [{ task: 'a', timeout_seconds: 60 }] },
  ),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', output_schema: '{"type":"object"}' }] },
    { tasks: [{ task: 'a', output_schema: { type: 'object' } }] },
  ),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', subagent_type: 'worker' }] },
    { tasks: [{ task: 'a' }] },
  ),
  named('fanout', 'spawnAgents', 'spawn_agents', { tasks: [{ task: 'a' }] }),
  read('child', 'submit_result', { result: { a: 1 } }, { result: '{"a":1}' }),
  read('child', 'submit_result', { a: 1 }, { result: '{"a":1}' }),
  read('child', 'submit_result', { output: 'done' }, { result: 'done' }),
  read('child', 'submit_result', { answer: 'done' }, { result: 'done' }),
  read('child', 'submit_result', '"done"', { result: 'done' }),
  read('child', 'submit_result', 'All is done.', { result: 'All is done.' }),
  read('child', 'submit_result', '```json\n{"a": 1}\n```', { result: '{"a":1}' }),
  read('child', 'submit_result', { result: 42 }, { result: '42' }),
  read('child', 'submit_error', { message: 'no' }, { error: 'no' }),
  named('child', 'submitResult', 'submit_result', { result: 'x' }),
  // sessions, delegate, tasks, slash
  read('sessions', 'sessions_spawn', { prompt: 'a' }, { task: 'a' }),
  read('sessions', 'sessions_spawn', { task: 'a', timeout: 60 }, { task: 'a', timeoutSeconds: 60 }),
  read('sessions', 'sessions_spawn', { task: 'a', timeout_seconds: '60' }, { task: 'a', timeoutSeconds: 60 }),
  read('sessions', 'sessions_spawn', { task: 'a', runTimeoutSeconds: 60 }, { task: 'a', timeoutSeconds: 60 }),
  read('sessions', 'sessions_spawn', { task: 'a', name: 'b' }, { task: 'a', label: 'b' }),
  read('sessions', 'sessions_spawn', { task: 'a', thinking: 'High' }, { task: 'a', thinking: 'high' }),
  read('sessions', 'sessions_spawn', { task: 'a', reasoning_effort: 'low' }, { task: 'a', thinking: 'low' }),
  read('sessions', 'sessions_spawn', 'Look around.', { task: 'Look around.' }),
  read(
    'delegate',
    'subagent_spawn',
    { task: 'Read it all' },
    { task: 'Read it all', description: 'read-it-all' },
  ),
  read('delegate', 'subagent_spawn', { prompt: 'a', description: 'b' }, { task: 'a', description: 'b' }),
  read(
    'delegate',
    'subagent_spawn',
    { prompt: 'a', description: 'b', subagent_type: 'default' },
    { task: 'a', description: 'b' },
  ),
  read(
    'delegate',
    'subagent_spawn',
    { task: 'a', description: 'b', max_turns: '5' },
    { task: 'a', description: 'b', maxTurns: 5 },
  ),
  read(
    'delegate',
    'subagent_spawn',
    { task: 'a', description: 'b', system_prompt: 'c' },
    { task: 'a', description: 'b', systemPrompt: 'c' },
  ),
  read('tasks', 'task_add', { subject: 'a' }, { title: 'a' }),
  read('tasks', 'task_add', { title: 'a', blockedBy: '1' }, { title: 'a', depends_on: [1] }),
  read('tasks', 'task_done', { id: '3', output: 'ok' }, { number: 3, result: 'ok' }),
  read('tasks', 'task_claim', { number: '' }, {}),
  read('slash', 'slash', { cmd: 'check-mail' }, { command: 'check-mail' }),
  read('slash', 'slash', 'check-mail', { command: 'check-mail' }),
  named('slash', 'Slash', 'slash', { command: 'check-mail' }),
  // a server's tool: only what its schema says
  read('server', 'shop__find', { limit: '5', tags: 'a' }, { limit: 5, tags: ['a'] }),
  read('server', 'shop__find', { limit: 5, onlyNew: 'true' }, { limit: 5, only_new: true }),
  read('server', 'shop__find', { limit: 5, tags: '["a","b"]' }, { limit: 5, tags: ['a', 'b'] }),
  named('server', 'Shop__Find', 'shop__find', { limit: 5 }),
  // calls written as text
  text('<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>', ['bash', LS]),
  text('Let me look.\n<tool_call>\n{"name": "Read", "arguments": {"file_path": "a.txt"}}\n</tool_call>', [
    'read',
    A,
  ]),
  text(
    '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>\n<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>',
    ['bash', LS],
    ['read', A],
  ),
  text('<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>', [
    'bash',
    LS,
  ]),
  text('<function=bash><parameter=command>ls</parameter><parameter=timeout>5</parameter></function>', [
    'bash',
    { command: 'ls', timeout: 5 },
  ]),
  text(
    '<function_calls><invoke name="bash"><parameter name="command">ls</parameter></invoke></function_calls>',
    ['bash', LS],
  ),
  text('[TOOL_CALLS][{"name": "bash", "arguments": {"command": "ls"}}]', ['bash', LS]),
  text('<|python_tag|>{"name": "bash", "parameters": {"command": "ls"}}', ['bash', LS]),
  text('<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>', ['bash', LS]),
  text(
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_calls_section_end|>',
    ['bash', LS],
  ),
  text(
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{"command":"ls"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ['bash', LS],
  ),
  text('{"name": "bash", "arguments": {"command": "ls"}}', ['bash', LS]),
  text('```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```', ['bash', LS]),
  text('Done.\nI\'ll run it now:\n```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```', [
    'bash',
    LS,
  ]),
  {
    who: 'child',
    wrote:
      'I\'ll submit my findings with `submit_result`:\n\n```json\n{"name": "submit_result", "arguments": {"result": "1. x"}}\n```',
    reads: [['submit_result', { result: '1. x' }]],
  },
  // tools of other programs, where the own one takes all that is left
  named('process', 'Task', 'fork', { name: 'a', prompt: 'b' }, { description: 'a', prompt: 'b' }),
  named(
    'fanout',
    'Agent',
    'spawn_agents',
    { tasks: [{ task: 'b', label: 'a' }] },
    { name: 'a', prompt: 'b' },
  ),
  named(
    'fanout',
    'Task',
    'spawn_agents',
    { tasks: [{ task: 'b', label: 'a', profile: 'explore' }, { task: 'c' }] },
    { tasks: [{ prompt: 'b', description: 'a', subagent_type: 'explore' }, 'c'] },
  ),
  named('sessions', 'spawn_agent', 'sessions_spawn', { task: 'b' }, { message: 'b' }),
  named(
    'delegate',
    'Task',
    'subagent_spawn',
    { task: 'b', description: 'a' },
    { description: 'a', prompt: 'b', subagent_type: 'general-purpose', run_in_background: false },
  ),
  named('process', 'ls', 'read', { path: 'src' }),
  named('process', 'cat', 'read', A, { file: 'a.txt' }),
  named('process', 'Grep', 'search', { pattern: 'x' }, { pattern: 'x', output_mode: 'content' }),
  named('process', 'run_shell_command', 'bash', LS),
  named('process', 'exec', 'bash', { command: 'ls -l' }, { cmd: ['ls', '-l'] }),
  named('process', 'functions.exec_command', 'bash', LS, { cmd: 'ls' }),
  named('process', 'run_terminal_cmd', 'bash', LS, { ...LS, explanation: 'x', is_background: false }),
  named('process', 'sleep', 'wait', { timeout: 30 }, { seconds: 30 }),
  named(
    'process',
    'send_message',
    'send',
    { to: 'parent', message: 'x' },
    { recipient: 'parent', content: 'x' },
  ),
  named('process', 'create_file', 'write', { ...A, content: 'x' }, { file_path: 'a.txt', contents: 'x' }),
  named('process', 'str_replace_editor', 'patch', EDIT, {
    command: 'str_replace',
    path: 'a.txt',
    old_str: 'a',
    new_str: 'b',
  }),
  named('process', 'str_replace_editor', 'read', A, { command: 'view', path: 'a.txt' }),
  named(
    'process',
    'str_replace_based_edit_tool',
    'write',
    { ...A, content: 'x' },
    { command: 'create', path: 'a.txt', file_text: 'x' },
  ),
  named(
    'process',
    'Task',
    'fork',
    { name: 'a', prompt: 'b' },
    { description: 'a', prompt: 'b', run_in_background: true },
  ),
  // Arguments as a bare list.
  read('process', 'bash', ['ls'], LS),
  read('process', 'bash', ['bash', '-lc', 'ls -l'], { command: 'ls -l' }),
  read('process', 'wait', ['a', 'b'], { from_agents: ['a', 'b'], timeout: 300 }),
  read('process', 'kill', ['a'], { agent_id: 'a' }),
  {
    who: 'process',
    wrote: [['read', ['a.txt', 'b.txt']]],
    reads: [
      ['read', A],
      ['read', { path: 'b.txt' }],
    ],
  },
  // Ranges of lines.
  named(
    'process',
    'str_replace_editor',
    'read',
    { ...A, offset: 2, limit: 8 },
    {
      command: 'view',
      path: 'a.txt',
      view_range: [2, 9],
    },
  ),
  named(
    'process',
    'view_file',
    'read',
    { ...A, offset: 1, limit: 50 },
    {
      AbsolutePath: 'a.txt',
      StartLine: 1,
      EndLine: 50,
    },
  ),
  named('process', 'read_file', 'read', { ...A, offset: 3 }, { ...A, view_range: [3, -1] }),
  read('process', 'read', { filePath: 'a.txt', endLine: '7' }, { ...A, offset: 1, limit: 7 }),
  // The same of Codex, OpenClaw and Claude Code.
  named(
    'process',
    'spawn_agent',
    'fork',
    { name: 'b', prompt: 'b', profile: 'explore' },
    {
      message: 'b',
      agent_type: 'Explore',
      fork_context: true,
    },
  ),
  named('process', 'exec', 'bash', LS, { command: 'ls', yieldMs: 10_000, workdir: '.', pty: false }),
  named(
    'process',
    'SendMessage',
    'send',
    { to: 'a', message: 'x' },
    {
      type: 'message',
      recipient: 'a',
      content: 'x',
      summary: 'y',
    },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'b', profile: 'Explore' },
    {
      name: 'a',
      prompt: 'b',
      profile: 'explore',
    },
  ),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'b', profile: 'EXPLORE' }] },
    {
      tasks: [{ task: 'b', profile: 'explore' }],
    },
  ),
  read(
    'sessions',
    'sessions_spawn',
    { task: 'b', agentId: 'tester', runTimeoutSeconds: 60 },
    {
      task: 'b',
      timeoutSeconds: 60,
    },
  ),
  named(
    'delegate',
    'subagent',
    'subagent_spawn',
    { task: 'b', description: 'b', profile: 'explore' },
    {
      task: 'b',
      agent: 'explore',
    },
  ),
  {
    who: 'delegate',
    wrote: [
      [
        'delegate_task',
        {
          tasks: [
            { description: 'a', prompt: 'b' },
            { description: 'c', prompt: 'd' },
          ],
        },
      ],
    ],
    reads: [
      ['subagent_spawn', { description: 'a', task: 'b' }],
      ['subagent_spawn', { description: 'c', task: 'd' }],
    ],
  },
  // answered with a right call
  answer(
    'delegate',
    'Task',
    { description: 'a', prompt: 'b', run_in_background: true },
    /no tool "Task".*subagent_spawn \{"task":"b","description":"a"\}/,
  ),
  answer('process', 'Task', { prompt: 'b', run_in_background: 'maybe' }, /fork \{"name":"b","prompt":"b"\}/),
  answer('process', 'cmd', { command: 'dir' }, /no tool "cmd".*bash \{"command":"dir"\}/),
  answer('process', 'tail', { path: 'a.txt' }, /no tool "tail".*read \{"path":"a.txt"\}/),
  answer('process', 'stop_agent', { id: 'x' }, /no tool "stop_agent".*kill \{"agent_id":"x"\}/),
  answer('process', 'edit_file', { path: 'a', content: 'x' }, /no tool "edit_file".*patch \{"path":"a"/),
  answer('process', 'view', { path: 'a', view_range: [9, 1] }, /read \{"path":"a"\}/),
  answer('process', 'Glob', { pattern: 'src/*.ts' }, /bash \{"command":"find src -name '\*\.ts'"\}/),
  answer(
    'process',
    'bash',
    { command: 'sleep 9', run_in_background: true },
    /"run_in_background": not known.*For example: bash \{"command":"sleep 9"\}/,
  ),
  answer(
    'process',
    'bash',
    { command: 'ls', workdir: '/srv' },
    /"workdir": not known.*bash \{"command":"ls"\}/,
  ),
  answer(
    'process',
    'Edit',
    { file_path: 'a', old_string: 'a', new_string: 'b', fuzzy: true },
    /no tool "Edit".*patch \{"path":"a","edits":\[\{"old_text":"a","new_text":"b"\}\]\}/,
  ),
  answer(
    'process',
    'fork',
    { name: 'a', prompt: 'b', budget: { usd: '$5' } },
    /"budget.usd": expected number.*fork \{"name":"a","prompt":"b"/,
  ),
  answer(
    'process',
    'write',
    { path: 'a', content: ['x', 'y'] },
    /"content": expected string.*write \{"path":"a","content":"<content>"\}/,
  ),
  answer('process', 'send', { message: 'x' }, /"to": missing.*send \{"to":"<to>","message":"x"\}/),
  // The example does not repeat what is refused.
  answer(
    'process',
    'bash',
    { command: 'ls', timeout: 60_001 },
    /timeout.*For example: bash \{"command":"ls"\}$/,
  ),
  named('slash', 'spawn_agent', 'slash', { command: 'fork b' }, { prompt: 'b' }),
  named('slash', 'check_mail', 'slash', { command: 'check-mail' }, {}),
  answer('process', 'apply_patch', { input: '*** Begin' }, /patch \{"path":"<path>"/),
  answer('server', 'shop__search', { limit: 5 }, /Tools: .*shop__find/),
  answer('server', 'shop__fnd', { limit: 5 }, /Did you mean shop__find/),
  answer(
    'server',
    'shop__find',
    { limit: 'many' },
    /shop__find: .*limit.*For example: shop__find \{"limit":1\}/s,
  ),
  // Wrappers that repeat what is called, and lists of one.
  read(
    'process',
    'fork',
    { name: 'fork', arguments: { name: 'a', prompt: 'b' } },
    { name: 'a', prompt: 'b' },
  ),
  read(
    'process',
    'fork',
    { tool: 'fork', tool_input: { name: 'a', prompt: 'b' } },
    { name: 'a', prompt: 'b' },
  ),
  read('process', 'bash', { function: { name: 'bash', arguments: '{"command":"ls"}' } }, LS),
  read('process', 'bash', { type: 'function', name: 'bash', parameters: LS }, LS),
  read('process', 'bash', { kwargs: LS }, LS),
  read('process', 'bash', [LS], LS),
  // Arguments as Python and JavaScript write them, and several objects behind each other.
  read('process', 'bash', "{'command': 'ls', 'timeout': None, 'run_in_background': False}", LS),
  read('process', 'bash', '{"command": "ls", "timeout": undefined}', LS),
  read('process', 'bash', "{command: 'echo \"it\\'s: a\"',}", { command: 'echo "it\'s: a"' }),
  read('process', 'bash', `{'command': "it's"}`, { command: "it's" }),
  read('process', 'bash', '{}{"command": "ls"}', LS),
  {
    who: 'process',
    wrote: [['Bash', '{"command": "ls"}\n{"command": "echo } {"}']],
    reads: [
      ['bash', LS],
      ['bash', { command: 'echo } {' }],
    ],
  },
  answer('process', 'bash', '{"command": "ls"}{"command": "ls"}', /For example: bash/),
  answer('process', 'bash', "{'command': 'it's'}", /For example: bash/),
  // Words for nothing, for yes and no, for units.
  read('process', 'bash', { script: 'ls', timeout: 'None' }, LS),
  read(
    'fanout',
    'spawn_agents',
    { tasks: [{ task: 'a', output_schema: 'null' }] },
    { tasks: [{ task: 'a' }] },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'b', worktree: 'on' },
    { name: 'a', prompt: 'b', worktree: true },
  ),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'b', worktree: 0 },
    { name: 'a', prompt: 'b', worktree: false },
  ),
  read('process', 'wait', { timeout_minutes: 5 }, { timeout: 300 }),
  read('process', 'wait', { minutes: '2', block: true }, { timeout: 120 }),
  read('sessions', 'sessions_spawn', { task: 'a', thinking: 'none' }, { task: 'a', thinking: 'off' }),
  read('sessions', 'sessions_spawn', { task: 'a', effort: 'Med' }, { task: 'a', thinking: 'medium' }),
  named('process', 'sleep', 'wait', { timeout: 30 }, { duration_ms: 30_000 }),
  answer(
    'process',
    'wait',
    { timeout: 'five minutes' },
    /"timeout": expected number.*wait \{"timeout":300\}/,
  ),
  // Lists as text with commas, names where ids are asked for, numbers with their sign.
  read('process', 'wait', { timeout: 30, agents: 'a, b' }, { timeout: 30, from_agents: ['a', 'b'] }),
  read('process', 'wait', { timeout: 30, 'agent-names': ['a'] }, { timeout: 30, from_agents: ['a'] }),
  read(
    'process',
    'fork',
    { name: 'a', prompt: 'b', readFirst: 'a.txt,b.txt' },
    { name: 'a', prompt: 'b', read_first: ['a.txt', 'b.txt'] },
  ),
  read('process', 'kill', { agent_name: 'a' }, { agent_id: 'a' }),
  read('process', 'send', { name: 'a', message: 'x' }, { to: 'a', message: 'x' }),
  read('tasks', 'task_done', { number: '#3', result: 'ok' }, { number: 3, result: 'ok' }),
  read('tasks', 'task_add', { title: 'a', depends_on: '1, #2' }, { title: 'a', depends_on: [1, 2] }),
  named('process', 'get_result', 'wait', { from_agents: ['a'], timeout: 300 }, { agent_id: 'a' }),
  // Files
  {
    who: 'process',
    wrote: [['read_many_files', { paths: ['a', 'b'] }]],
    reads: [
      ['read', { path: 'a' }],
      ['read', { path: 'b' }],
    ],
  },
  {
    who: 'process',
    wrote: [['read', { paths: ['a', 'b'] }]],
    reads: [
      ['read', { path: 'a' }],
      ['read', { path: 'b' }],
    ],
  },
  named('process', 'Glob', 'bash', { command: "find . -name '*.ts'" }, { pattern: '**/*.ts' }),
  named('process', 'Glob', 'bash', { command: "find src -name '*.ts'" }, { pattern: 'src/**/*.ts' }),
  named('process', 'write_to_file', 'write', { ...A, content: 'x' }, { ...A, content: 'x', line_count: 1 }),
  named(
    'process',
    'Write',
    'write',
    { ...A, content: 'x' },
    { TargetFile: 'a.txt', CodeContent: 'x', EmptyFile: false },
  ),
  read('process', 'read', { target_file: 'a.txt', should_read_entire_file: true }, A),
  read('process', 'bash', { command: 'ls', requires_approval: false }, LS),
  answer('process', 'bash', { command: 'ls', requires_approval: true }, /"requires_approval": not known/),
  answer(
    'process',
    'search',
    { pattern: 'x', case_sensitive: false },
    /"case_sensitive": not known.*ignore_case/,
  ),
  // The end of a task by its names in other programs; who has no such call is told to write.
  named('child', 'attempt_completion', 'submit_result', { result: 'x' }),
  named('child', 'final_answer', 'submit_result', { result: 'x' }, { answer: 'x' }),
  named('child', 'complete_task', 'submit_result', { result: 'x' }),
  named('child', 'finish', 'submit_result', { result: '{"summary":"x"}' }, { summary: 'x' }),
  answer('process', 'final_answer', { answer: 'x' }, /Write it as the text of your answer/),
  answer('process', 'ask_user', { question: 'which?' }, /Write it as the text of your answer/),
  named('process', 'create_subagent', 'fork', { name: 'a', prompt: 'b' }, { name: 'a', task: 'b' }),
  named(
    'fanout',
    'create_subagent',
    'spawn_agents',
    { tasks: [{ task: 'b', label: 'a' }] },
    { name: 'a', task: 'b' },
  ),
  named(
    'delegate',
    'spawn_subagent',
    'subagent_spawn',
    { task: 'b', description: 'a' },
    { name: 'a', task: 'b' },
  ),
  // Calls in texts.
  text('{"action": "bash", "action_input": {"command": "ls"}}', ['bash', LS]),
  text('```json\n{"tool": "bash", "args": {"command": "ls"}}\n```', ['bash', LS]),
  text('{"type": "tool_use", "id": "x", "name": "bash", "input": {"command": "ls"}}', ['bash', LS]),
  text(
    '{"tool_calls": [{"id": "x", "type": "function", "function": {"name": "bash", "arguments": "{\\"command\\":\\"ls\\"}"}}]}',
    ['bash', LS],
  ),
  text("<tool_call>\n{'name': 'bash', 'arguments': {'command': 'ls'}}\n</tool_call>", ['bash', LS]),
  text('<function=bash>{"command": "ls"}</function>', ['bash', LS]),
  ...FORMS.map((form) => text(form, ['bash', LS])),
  text(
    '[bash(command="ls"), search(pattern="a, (b)", ignore_case=True)]',
    ['bash', LS],
    ['search', { pattern: 'a, (b)', ignore_case: true }],
  ),
  text(
    "patch(path='a.txt', edits=[{'old_text': 'a', 'new_text': 'b'}])\nread(path=\"a.txt\")",
    ['patch', EDIT],
    ['read', A],
  ),
  text('read {"path": "a.txt"}\nbash {"command": "ls"}', ['read', A], ['bash', LS]),
  read('process', 'wait', { timeout: null, from_agents: ['a'] }, { timeout: 300, from_agents: ['a'] }),
  read('process', 'wait', { timeout: 'forever', from_agents: ['a'] }, { timeout: 300, from_agents: ['a'] }),
  named('process', 'TaskOutput', 'wait', { timeout: 300, from_agents: ['a'] }, { task_id: 'a', block: true }),
  answer('process', 'KillShell', { shell_id: 'a' }, /kill \{"agent_id":"a"\}/),
  answer(
    'process',
    'wait',
    { timeout: 'x', from_agents: ['a'] },
    /wait \{"timeout":300,"from_agents":\["a"\]\}/,
  ),
  read('fanout', 'spawn_agents', { tasks: [{ task: 'a' }], parallel: true }, { tasks: [{ task: 'a' }] }),
  named('child', 'submit_results', 'submit_result', { result: '["a","b"]' }, { results: ['a', 'b'] }),
  read('child', 'submit_result', { success: true, result: 'a' }, { result: 'a' }),
  read('child', 'submit_result', { result: 'a', message: 'b' }, { result: '{"result":"a","message":"b"}' }),
  read('sessions', 'sessions_list', { kinds: ['subagent'], limit: 10 }, {}),
  read(
    'delegate',
    'subagent_spawn',
    { task: 'a', description: 'b', max_turns: '5 turns' },
    { task: 'a', description: 'b', maxTurns: 5 },
  ),
  read('slash', 'slash', { cmd: 'fork', prompt: 'Fix a.js' }, { command: 'fork Fix a.js' }),
  read('slash', 'slash', { command: '/send', to: B, message: 'hi' }, { command: `send ${B} hi` }),
  read('slash', 'slash', { command: ['fork', 'Fix a.js'] }, { command: 'fork Fix a.js' }),
  // By the names of other programs.
  text('[Task(description="a", prompt="b")]', ['fork', { name: 'a', prompt: 'b' }]),
  text(
    '<function_calls>\n<invoke name="Task">\n<parameter name="description">a</parameter>\n<parameter name="prompt">b</parameter>\n</invoke>\n</function_calls>',
    ['fork', { name: 'a', prompt: 'b' }],
  ),
  named('process', 'bash<|channel|>commentary', 'bash', LS),
];
