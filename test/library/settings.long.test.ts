/**
 * Proves that `openCoppice` accepts everything that the configuration file accepts: every key of its schema works as it does there, or is rejected as
 * belonging to the command line. A new key needs a proof here.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { z } from 'zod';
import { configuration } from '../../src/cli/setup/configuration.ts';
import { createScriptedModel, defineTool, openCoppice } from '../../src/coppice.ts';
import { COMMAND_LINE_ONLY } from '../../src/library/coppice-options.ts';
import type { ModelRequest } from '../../src/models/model.ts';
import { CommandBudget, type CommandLimits } from '../../src/processes/limits/command-budget.ts';
import type { ProcessLimit } from '../../src/processes/limits/process-usage.ts';
import type { Agent, AgentConfig, PermissionRules } from '../../src/records/agent/agent.ts';
import type { Limits } from '../../src/records/agent/limits.ts';
import { commandBounds, sandboxOf } from '../../src/settings/sandbox-of.ts';
import { settingsProfiles } from '../../src/settings/settings-profiles.ts';
import { subagentTerms } from '../../src/settings/subagent-terms.ts';
import { openStore } from '../../src/store/open-store.ts';
import { TASK, tokensOf, WINDOW, workTool, wornOutModel } from '../runtime/context/worn-out-window.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { serverConfig } from '../tools/mcp-servers/servers.ts';
import { webServer } from '../tools/web/web-server.ts';

const folder = temporaryFolder();
let ledgers = 0;

const three = (name: string, input: (n: number) => Record<string, unknown>) =>
  [0, 1, 2].map((n) => ({ name, input: input(n) }));
const RULES = {
  rules: [
    {
      when: { root: true, step: 0, user: 'spawn' },
      calls: three('sessions_spawn', (n) => ({ task: `task ${n}` })),
    },
    {
      when: { root: true, step: 0, user: 'delegate' },
      calls: three('subagent_spawn', (n) => ({ task: `task ${n}`, description: `task ${n}` })),
    },
    {
      when: { root: true, step: 0, user: 'fetch' },
      calls: [{ name: 'web_fetch', input: { url: '{{user.fetch (\\S+)}}' } }],
    },
    { when: { root: true, step: 0, user: 'seek' }, calls: [{ name: 'web_search', input: { query: 'x' } }] },
    { when: { root: true, step: 0, user: 'look' }, calls: [{ name: 'look', input: {} }] },
    { when: { root: true, user: 'look|fetch|seek' }, say: '{{result}}' },
    { say: 'done' },
  ],
};

interface Seen {
  readonly root: Agent;
  readonly agents: readonly Agent[];
  readonly reply: string;
  readonly limits: Limits;
  /** Maximum number of children that were at work at the same time. */
  readonly most: number;
  /** Outputs of all calls, joined by line breaks. */
  readonly results: string;
}

async function quotas(limits: CommandLimits): Promise<CommandBudget['quotas']> {
  return (await CommandBudget.of(limits, folder, folder, async () => false)).quotas;
}

/** Runs one agent of the library with these options; the scripted model is available as `script` and `other`. */
async function run(options: object, agent: { profile?: string; prompt?: string } = {}): Promise<Seen> {
  ledgers += 1;
  const database = join(folder, `${ledgers}.db`);
  const script = createScriptedModel(RULES, 'script');
  const slow = {
    ...script,
    stream: async (...given: Parameters<typeof script.stream>) => {
      await new Promise((resolve) => setTimeout(resolve, given[0].agent.parent_id === null ? 0 : 30));
      return script.stream(...given);
    },
  };
  const look = defineTool({
    name: 'look',
    description: 'Looks at the environment.',
    input: z.strictObject({}),
    side_by_side: true,
    idempotent: true,
    run: async (_input, context) => context.env_allow.join(),
  });
  const coppice = await openCoppice({
    database,
    model: 'script',
    models: { script: slow, other: slow },
    tools: [look],
    ...options,
  });
  const working = new Set<string>();
  let most = 0;
  coppice.subscribe((event) => {
    if (event.type !== 'agent' || event.agent.parent_id === null) return;
    if (event.agent.state.type === 'requesting') working.add(event.agent.id);
    else working.delete(event.agent.id);
    most = Math.max(most, working.size);
  });
  const started = await coppice.start({ prompt: 'go', ...agent });
  const { reply } = await started.result();
  await coppice.close();
  const store = await openStore(database);
  const agents = await store.agents({ root_id: started.id });
  const tree = await store.tree(started.id);
  const history = await store.history(started.id);
  await store.close();
  const root = agents.find(({ id }) => id === started.id) as Agent;
  const results = history
    .map((message) => (message.kind === 'result' ? message.content.output : ''))
    .join('\n');
  return { root, agents, reply, limits: tree?.limits as Limits, most, results };
}

/** Options with a model that records which tools it was offered; `names` returns those of its newest request. */
function toolsSeen(): {
  options: object;
  names: () => readonly string[];
  parametersOf: (tool: string) => readonly string[];
} {
  const script = createScriptedModel(RULES, 'script');
  let tools: ModelRequest['tools'] = [];
  const stream: typeof script.stream = (request, onDelta) => {
    tools = request.tools;
    return script.stream(request, onDelta);
  };
  return {
    options: { models: { script: { ...script, stream } } },
    names: () => tools.map(({ name }) => name),
    parametersOf: (tool) => Object.keys(tools.find(({ name }) => name === tool)?.input.properties ?? {}),
  };
}

/** The configuration of a root that is started with these options. */
async function root(options: object, agent = {}): Promise<AgentConfig> {
  return (await run(options, agent)).root.config;
}

const children = ({ agents }: Seen) => agents.filter(({ parent_id }) => parent_id !== null);
const SPAWN = { prompt: 'spawn them' };

/** Asserts that three requested children work one after the other. */
async function oneByOne(settings: object): Promise<void> {
  const narrow = await run({ toolsets: ['sessions'], ...settings }, SPAWN);
  assert.deepEqual([children(narrow).length, narrow.most], [3, 1], narrow.results);
}

const LIMITS = {
  depth: 2,
  children: 3,
  live: 4,
  total: 5,
  turns: 6,
  run_ms: 7_000,
  tokens: 8_000,
  cost_usd: 1,
};
const PERMISSIONS = { allow: ['bash:ls'], ask: ['read'], deny: ['write'] };

/** Options and agent that set a key of `agents.defaults` or of a named agent. */
const KINDS = {
  defaults: (entry: object) => ({ options: { agents: { defaults: entry } }, agent: {} }),
  '*': (entry: object) => ({ options: { agents: { kind: entry } }, agent: { profile: 'kind' } }),
};
async function rootBy(kind: keyof typeof KINDS, entry: object): Promise<AgentConfig> {
  const { options, agent } = KINDS[kind](entry);
  return root(options, agent);
}

const OF_BOTH = (kind: keyof typeof KINDS): Readonly<Record<string, () => Promise<void>>> => {
  const of = (entry: object) => rootBy(kind, entry);
  return {
    model: async () => assert.equal((await of({ model: 'other' })).model, 'other'),
    fallback: async () => assert.deepEqual((await of({ fallback: ['other'] })).fallback, ['other']),
    thinking: async () => assert.equal((await of({ thinking: 'high' })).thinking, 'high'),
    toolsets: async () => assert.deepEqual((await of({ toolsets: ['fanout'] })).toolsets, ['fanout']),
    tools: async () => assert.ok((await of({ tools: ['write'] })).tools.includes('write')),
    system: async () => assert.equal((await of({ system: 'Be brief.' })).system, 'Be brief.'),
    // Only the command line reads these files.
    skills: async () => assert.equal((await of({ skills: ['a'] })).skills, undefined),
    instructions: async () => assert.equal((await of({ instructions: false })).instructions, undefined),
    ...Object.fromEntries(
      Object.entries(LIMITS).map(([name, value]) => [
        `limits.${name}`,
        async () => {
          const { options, agent } = KINDS[kind]({ limits: { [name]: value } });
          const { limits } = await run(options, agent);
          assert.equal(limits[name as keyof Limits], value);
        },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(PERMISSIONS).map(([verdict, rules]) => [
        `permissions.${verdict}`,
        async () => {
          const { config, narrowed } = (await of({ permissions: { [verdict]: rules } })).permissions;
          const said = kind === 'defaults' ? config : narrowed?.[0];
          assert.ok(said?.[verdict as keyof PermissionRules].includes(rules[0] as string));
        },
      ]),
    ),
  };
};

const WORN = (seen: ModelRequest[]) => ({ models: { script: wornOutModel(seen) }, tools: [workTool(50)] });

/** Reply to a prompt that calls a web tool, with these `web` settings. */
async function onTheWeb(prompt: string, web: object): Promise<string> {
  const tools = ['web_fetch', 'web_search'];
  return (await run({ web, builtInTools: tools, permissions: { allow: tools } }, { prompt })).reply;
}

const PROOFS: Readonly<Record<string, () => Promise<void>>> = {
  model: async () => assert.equal((await root({ model: 'other' })).model, 'other'),
  database: async () => assert.equal((await run({})).reply, 'done'),
  agentHooks: async () => {
    const hook = { type: 'command', command: 'echo "not now" >&2; exit 2' };
    const { results } = await run(
      { agentHooks: { PreToolUse: [{ matcher: 'look', hooks: [hook] }] } },
      { prompt: 'look around' },
    );
    assert.match(results, /A hook of the user objects to this call: not now/);
  },
  env_allow: async () =>
    assert.equal((await run({ env_allow: ['MY_FLAG'] }, { prompt: 'look around' })).reply, 'MY_FLAG'),
  ...Object.fromEntries(
    Object.entries({
      mode: ['strict', 'strict'],
      hosts: [['example.com'], ['example.com']],
      write: [['~/.npm-cache'], [join(homedir(), '.npm-cache')]],
      read: [['/srv'], ['/srv']],
      sockets: [true, true],
    }).map(([key, [said, meant]]) => [
      `sandbox.${key}`,
      async () => assert.deepEqual({ ...sandboxOf({ [key]: said }, {}, null)?.settings }[key], meant),
    ]),
  ),
  ...Object.fromEntries(
    ['memory_mb', 'processes', 'cpu_seconds', 'disk_mb'].map((limit) => [
      `sandbox.limits.${limit}`,
      async () => {
        const { limits } = commandBounds({ limits: { [limit]: 4096 } }, {}, { kind: 'sqlite', location: '' });
        const budget = await CommandBudget.of(limits, folder, null, async () => false);
        assert.equal(budget.limits[limit as ProcessLimit], 4096);
      },
    ]),
  ),
  'sandbox.limits.files': async () => assert.equal((await quotas({ files: 500 }))[0]?.files, 500),
  'sandbox.limits.folder_mb': async () => assert.equal((await quotas({ folder_mb: 4096 }))[1]?.mb, 4096),
  'sandbox.unprotect': async () =>
    assert.deepEqual(sandboxOf({ unprotect: ['.vscode'] }, {}, null)?.settings.unprotected, ['.vscode']),
  'sandbox.hide': async () => {
    const hidden = sandboxOf({ hide: ['/srv/secrets'] }, { XDG_DATA_HOME: '/data' }, null)?.settings.hidden;
    assert.ok(hidden?.includes('/srv/secrets') && hidden.includes('/data/coppice'));
  },
  providers: async () => {
    const local = { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'MY_KEY' };
    await assert.rejects(run({ model: 'local/any', providers: { local }, env: {} }), { message: /MY_KEY/ });
  },
  acp: async () => {
    const acp = { mine: { command: join(folder, 'no-program') } };
    assert.match(JSON.stringify((await run({ model: 'acp:mine', acp })).root.state), /no-program/);
  },
  'web.private_hosts': async () => {
    const { origin, port } = await webServer({ '/': '<p>Page' });
    assert.match(await onTheWeb(`fetch ${origin}/`, {}), /private network/);
    assert.match(await onTheWeb(`fetch ${origin}/`, { private_hosts: [`127.0.0.1:${port}`] }), /Page/);
  },
  'web.robots': async () => {
    const robots = 'User-agent: *\nDisallow: /';
    const { origin } = await webServer({
      '/': '<p>Page',
      '/robots.txt': (_, answer) => void answer.end(robots),
    });
    const web = { private_hosts: ['127.0.0.1'] };
    assert.match(await onTheWeb(`fetch ${origin}/`, web), /asks programs not to read/);
    assert.match(await onTheWeb(`fetch ${origin}/`, { ...web, robots: false }), /Page/);
  },
  'web.search.type': async () => {
    assert.match(await onTheWeb('seek', {}), /no search service is configured/);
    assert.match(await onTheWeb('seek', { search: { type: 'searxng' } }), /needs "baseURL"/);
  },
  'web.search.baseURL': async () => {
    const { origin } = await webServer({ '/search': '{"results": []}' });
    assert.match(await onTheWeb('seek', { search: { type: 'searxng', baseURL: origin } }), /nothing found/);
  },
  'web.search.apiKeyEnv': async () =>
    assert.match(
      await onTheWeb('seek', { search: { type: 'brave', apiKeyEnv: 'NO_KEY' } }),
      /NO_KEY is not set/,
    ),
  'mcp.servers': async () => {
    const seen = toolsSeen();
    const { root: agent } = await run({ ...seen.options, mcp: { servers: { t: serverConfig() } } });
    assert.ok(agent.config.tools.includes('t__*'));
    assert.ok(seen.names().includes('t__echo'));
  },
  'mcp.direct': async () => {
    const seen = toolsSeen();
    await run({ ...seen.options, mcp: { servers: { t: serverConfig() }, direct: 3 } });
    assert.ok(seen.names().includes('find_tools') && !seen.names().includes('t__echo'));
  },
  'context.share': async () => {
    const seen: ModelRequest[] = [];
    await run({ ...WORN(seen), context: { share: 0.5 } }, { prompt: TASK });
    assert.ok(seen.length > 40 && seen.every((request) => tokensOf(request) < 0.55 * WINDOW));
  },
  'context.model': async () => {
    const [seen, summaries]: [ModelRequest[], ModelRequest[]] = [[], []];
    const { models, tools } = WORN(seen);
    const writer = wornOutModel(summaries, 10 * WINDOW);
    await run({ tools, models: { ...models, writer }, context: { model: 'writer' } }, { prompt: TASK });
    assert.deepEqual([summaries.length, seen.length > 40], [1, true]);
  },
  'runs.maxConcurrent': () => oneByOne({ runs: { maxConcurrent: 1 } }),
  'runs.perSource.subagent': () => oneByOne({ runs: { perSource: { subagent: 1 } } }),
  'runs.perSource.delegate': async () => {
    const options = {
      agents: { defaults: { toolsets: ['delegate'] } },
      runs: { perSource: { delegate: 1 } },
    };
    const narrow = await run(options, { prompt: 'delegate them' });
    assert.deepEqual([children(narrow).length, narrow.most], [3, 1], narrow.results);
  },
  // Only a server fires schedules; this checks that the number is read like the other two.
  'runs.perSource.cron': async () =>
    assert.equal(subagentTerms({ runs: { perSource: { cron: 3 } } }).runs.per_source.cron, 3),
  'agents.defaults.subagents.maxConcurrent': () =>
    oneByOne({ agents: { defaults: { subagents: { maxConcurrent: 1 } } } }),
  'agents.defaults.subagents.model': async () => {
    const agents = { defaults: { subagents: { model: 'other' } } };
    const seen = await run({ toolsets: ['sessions'], agents }, SPAWN);
    assert.deepEqual(
      children(seen).map(({ config }) => config.model),
      ['other', 'other', 'other'],
    );
  },
  'agents.defaults.subagents.models': async () => {
    const models = (settings: object) =>
      subagentTerms(settings, { OPENAI_API_KEY: 'key' }, ['own']).subagents.models;
    const usual = models({ model: 'a/b', acp: { wren: { command: 'wren' } } }) ?? [];
    for (const name of ['own', 'a/b', 'openai/gpt-5', 'acp:wren/*']) assert.ok(usual.includes(name), name);
    assert.ok(!usual.some((name) => name.startsWith('anthropic/')));
    assert.deepEqual(models({ agents: { defaults: { subagents: { models: ['a/*'] } } } }), ['a/*']);
  },
  'agents.defaults.subagents.parameters': async () => {
    const seen = toolsSeen();
    const agents = { defaults: { subagents: { parameters: ['read_first'] } } };
    await run({ ...seen.options, toolsets: ['process'], agents });
    assert.ok(seen.parametersOf('fork').includes('read_first'));
    assert.ok(!seen.parametersOf('fork').includes('budget'));
  },
  'agents.*.parameters': async () => {
    const seen = toolsSeen();
    const agents = { asker: { toolsets: ['process'], parameters: ['read_first'] } };
    await run({ ...seen.options, agents }, { profile: 'asker' });
    assert.ok(seen.parametersOf('fork').includes('read_first'));
  },
  'agents.defaults.subagents.allowAgents': async () => {
    const agents = { defaults: { subagents: { allowAgents: [] } } };
    const seen = await run({ toolsets: ['sessions'], agents }, SPAWN);
    assert.equal(children(seen).length, 0, seen.results);
  },
  ...prefixed('agents.defaults.', OF_BOTH('defaults')),
  ...prefixed('agents.*.', OF_BOTH('*')),
  // Only `coppice profiles` shows it; a program has its own ways to describe its profiles.
  'agents.*.description': async () => {
    const known = { tools: [], toolsets: [] };
    const [kind] = settingsProfiles({ agents: { kind: { description: 'Looks.' } } } as object, known, '');
    assert.equal(kind?.description, 'Looks.');
  },
  'agents.*.deny_tools': async () =>
    assert.ok(!(await rootBy('*', { deny_tools: ['read'] })).tools.includes('read')),
  'agents.*.require': async () =>
    assert.deepEqual((await rootBy('*', { require: ['bash:npm test'] })).require, ['bash:npm test ok']),
  ...Object.fromEntries(
    Object.entries({ tokens: 9_000, usd: 2, seconds: 60 }).map(([name, value]) => [
      `agents.*.budget.${name}`,
      async () => {
        const [own] = (await rootBy('*', { budget: { [name]: value } })).budgets ?? [];
        assert.equal(own?.[name as 'tokens'], value);
      },
    ]),
  ),
  'agents.*.turns': async () => assert.equal((await rootBy('*', { turns: 2 })).turns, 2),
  'agents.*.timeout_seconds': async () =>
    assert.equal((await rootBy('*', { timeout_seconds: 2 })).run_ms, 2_000),
};

function prefixed<T>(before: string, proofs: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(proofs).map(([name, proof]) => [before + name, proof]));
}

/** Paths of all leaf keys of the schema. Providers and agent programs are not listed by key, because they are checked by the same schemas as in the file. */
function keysOf(schema: z.ZodType, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return keysOf(schema.unwrap() as z.ZodType, path);
  if (!(schema instanceof z.ZodObject)) return [path];
  const under = (key: string) => (path === '' ? key : `${path}.${key}`);
  const own = Object.entries(schema.shape).flatMap(([key, one]) => keysOf(one as z.ZodType, under(key)));
  const { catchall } = schema.def;
  const others =
    catchall === undefined || catchall instanceof z.ZodNever ? [] : keysOf(catchall as z.ZodType, under('*'));
  return [...own, ...others];
}

const keys = keysOf(configuration, '');
const isTheCommandLines = (key: string) => Object.hasOwn(COMMAND_LINE_ONLY, key.split('.')[0] as string);
/** Key that only editors of the configuration file use. */
const OF_EDITORS = '$schema';

it('every key of the configuration file is tested here or belongs to the command line', () => {
  assert.ok(keys.length > 40);
  assert.deepEqual(
    keys.filter((key) => key !== OF_EDITORS && !isTheCommandLines(key)).toSorted(),
    Object.keys(PROOFS).toSorted(),
  );
});

for (const [key, proof] of Object.entries(PROOFS)) it(`takes ${key}`, proof);

it('refuses keys of the command line, and misspelt keys at any depth', async () => {
  for (const [options, message] of [
    [{ channels: {} }, /no option "channels": coppice serve/],
    [{ keys: {} }, /no option "keys": they are keys of the terminal UI/],
    [{ server: {} }, /no option "server": coppice serve answers HTTP/],
    [{ buildInTools: [] }, /no option "buildInTools"/],
    [{ agents: { defaults: { tols: [] } } }, /unknown key "agents.defaults.tols" of openCoppice/],
    [{ runs: { maxConcurrent: 0 } }, /runs.maxConcurrent of openCoppice/],
    [{ agents: { a: { tools: ['raed'] } } }, /no tool "raed"/],
    [
      { agents: { defaults: { subagents: { allowAgents: ['main', 'b'] } }, a: {} } },
      /allowAgents of openCoppice: no profile called "b"/,
    ],
    [{ permissions: { deny: ['bsh:rm *'] } }, /permissions.deny of openCoppice: .*no tool "bsh"/],
    [
      { profiles: [{ name: 'a', permissions: { allow: ['bsh'] } }] },
      /profile a: permissions.allow.*no tool "bsh"/,
    ],
  ] as const)
    await assert.rejects(run(options as object), { code: 'E_CONFIG', message });
});

it('errors name a missing database, what is no tool, an unknown option of an agent, and a prompt that is not a string', async () => {
  const opened = (options?: object) => openCoppice(options as Parameters<typeof openCoppice>[0]);
  for (const options of [undefined, {}, { model: 'script' }])
    await assert.rejects(opened(options), { code: 'E_CONFIG', message: /needs the option "database"/ });
  for (const tool of ['bash', null, { name: 'bash' }])
    await assert.rejects(opened({ database: join(folder, 'tools.db'), model: 'script', tools: [tool] }), {
      code: 'E_CONFIG',
      message: /tools\.0 of openCoppice: is not a tool: defineTool .*"builtInTools"/,
    });
  const coppice = await opened({ database: join(folder, 'agents.db'), model: 'script' });
  const start = (options?: object) => coppice.start(options as Parameters<typeof coppice.start>[0]);
  await assert.rejects(start(), { code: 'E_INVALID_ARGUMENT', message: /needs the option "prompt"/ });
  await assert.rejects(start({ prompt: 7 }), { code: 'E_INVALID_ARGUMENT', message: /"prompt"/ });
  await assert.rejects(start({ prompt: 'x', modle: 'script' }), {
    code: 'E_CONFIG',
    message: /start has no option "modle"/,
    hint: /Did you mean model\?/,
  });
  await coppice.close();
});

it('a specific option takes precedence over the default for all agents; a program may have rules for its own tools', async () => {
  const agents = { defaults: { system: 'all', toolsets: ['slash'], limits: { depth: 1 } } };
  const seen = await run({ agents, system: 'own', toolsets: ['fanout'], limits: { depth: 2 } });
  assert.deepEqual([seen.root.config.system, seen.root.config.toolsets], ['own', ['fanout']]);
  assert.equal(seen.limits.depth, 2);
  assert.deepEqual((await root({ permissions: { deny: ['look'] } })).permissions.config.deny, ['look']);
});

it('agents of a program cannot reach the settings of the command line, and their spilled output is private to the user', async () => {
  const home = mkdtempSync(join(folder, 'home-'));
  const env = {
    XDG_CONFIG_HOME: join(home, 'settings'),
    XDG_DATA_HOME: join(home, 'data'),
    COPPICE_SANDBOX: 'off',
  };
  const places = ['settings/coppice/config.json', 'data/coppice/trust.json', 'plain.txt'];
  const coppice = await openCoppice({
    database: `sqlite:${join(folder, 'own.db')}`,
    model: 'scripted:own',
    env,
    cwd: home,
    builtInTools: ['write', 'bash'],
    permissions: { allow: ['*'] },
    models: {
      'scripted:own': createScriptedModel(
        {
          rules: [
            ...places.map((path, step) => ({
              when: { step },
              calls: [{ name: 'write', input: { path, content: '{}' } }],
            })),
            { when: { step: 3 }, calls: [{ name: 'bash', input: { command: 'seq 100000' } }] },
            { say: 'done' },
          ],
        },
        'own',
      ),
    },
  });
  const { id, result } = await coppice.start({ prompt: 'write' });
  await result();
  await coppice.close();
  assert.deepEqual(readdirSync(home).toSorted(), ['data', 'plain.txt']);
  assert.equal(existsSync(join(home, places[1] as string)), false);
  const output = join(home, 'data/coppice/output/trees', id);
  assert.equal(readdirSync(output).length, 1);
  assert.equal(statSync(output).mode & 0o777, 0o700);
});
