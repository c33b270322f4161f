// Proves that a misspelt name is an error with a suggestion: in the configuration, in rules, in limits.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseLimits } from '../../../src/cli/run/limit-option.ts';
import { composeRoot } from '../../../src/cli/setup/compose-config.ts';
import type { Context } from '../../../src/cli/setup/context.ts';
import { loadConfiguration } from '../../../src/cli/setup/load-configuration.ts';
import { TOOL_NAMES } from '../../../src/cli/setup/profiles/parse-agent-file.ts';
import { loadProfiles } from '../../../src/cli/setup/profiles/profiles.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { CoppiceError } from '../../../src/records/coppice-error.ts';
import { checkedLimits } from '../../../src/runtime/orders/checked-options.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { makeHome } from '../run-cli.ts';

const home = makeHome();

async function told(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error instanceof CoppiceError ? `${error.code} ${error.message}\n${error.hint}` : error.message;
  }
  return 'nothing';
}

async function loaded(configuration: object): Promise<Context> {
  home.configure(configuration);
  const loaded = await loadConfiguration(undefined, home.env);
  return { options: { cwd: home.work }, env: home.env, loaded, data_folder: home.folder } as Context;
}

const CONFIGURATIONS: readonly (readonly [object, RegExp])[] = [
  [{ modle: 'a/b' }, /unknown key "modle".*\nDid you mean model\?/],
  [{ agents: { default: { tools: ['read'] } } }, /"default" is not a valid profile name.*called "defaults"/],
  [
    { agents: { defualts: { tools: ['read'] } } },
    /"defualts" is not a valid profile name.*called "defaults"/,
  ],
  [
    { agents: { defaults: { limits: { chldren: 1 } } } },
    /"agents.defaults.limits.chldren".*\nDid you mean children/,
  ],
  [{ agents: { a: { limits: { turn: 1 } } } }, /unknown key "agents.a.limits.turn".*\nDid you mean turns/],
  [{ agents: { a: { mdoel: 'a/b' } } }, /unknown key "agents.a.mdoel".*\nDid you mean model/],
  [{ agents: { a: { tools: ['raed'] } } }, /agents.a.tools in .*no tool "raed"\nDid you mean read/],
  [{ agents: { a: { deny_tools: ['bsh'] } } }, /agents.a.deny_tools in .*no tool "bsh"\nDid you mean bash/],
  [{ agents: { a: { toolsets: ['proces'] } } }, /no toolset "proces"\nDid you mean process/],
  [{ agents: { a: { permissions: { deny: ['bsh:rm *'] } } } }, /deny in .*no tool "bsh"\. Did you mean bash/],
  [
    { agents: { a: { permissions: { dney: ['bash'] } } } },
    /"agents.a.permissions.dney".*\nDid you mean deny/,
  ],
  [
    { agents: { defaults: { permissions: { ask: ['bsh:git'] } } } },
    /^E_CONFIG agents.defaults.permissions.ask in .*no tool "bsh"\. Did you mean bash/,
  ],
  [
    { agents: { defaults: { tools: ['raed'] } } },
    /agents.defaults.tools in .*no tool "raed"\nDid you mean read/,
  ],
  [{ agents: { defaults: { toolsets: ['proces'] } } }, /agents.defaults.toolsets in .*no toolset "proces"/],
  [{ channels: { telegram: { alow: [1] } } }, /"channels.telegram.alow".*\nDid you mean allow/],
  [{ channels: { webhok: {} } }, /unknown key "channels.webhok".*\nDid you mean webhook/],
  [
    { channels: { webhook: { a: { url: 'https://x', secretEn: 'X' } } } },
    /webhook.a.secretEn".*\nDid you mean secretEnv/,
  ],
  [{ runs: { perSource: { corn: 1 } } }, /"runs.perSource.corn".*\nDid you mean cron/],
  [{ mcpServers: {} }, /unknown key "mcpServers".*\nDid you mean mcp\?/],
  [
    { providers: { a: { type: 'openai', apiKey: 'sk' } } },
    /unknown key "providers.a.apiKey".*\nDid you mean apiKeyEnv\?/,
  ],
  [
    { providers: { a: { type: 'openai', models: ['m'] } } },
    /models in .*: an object \(\{…\}\) is expected, and this is a list \(\[…\]\)$/m,
  ],
  [
    { providers: { a: { type: 'openai', maxConcurrent: 4.5 } } },
    /maxConcurrent in .*: a whole number is expected, and this is 4\.5$/m,
  ],
  [{ sandbox: true }, /sandbox in .*: an object \(\{…\}\) is expected, and this is true$/m],
  [{ model: null }, /model in .*: a string is expected, and this is null$/m],
  [{ keys: { agnets: ['f2'] } }, /unknown key "keys.agnets".*\nDid you mean agents/],
];

for (const [configuration, message] of CONFIGURATIONS)
  it(`in the configuration: ${JSON.stringify(configuration)}`, async () => {
    assert.match(await told(async () => loadProfiles(await loaded(configuration))), message);
  });

it('a profile in allowAgents that this folder does not have is told of, because another folder may have it', async () => {
  const notices = async (...allowAgents: string[]) =>
    loadProfiles(await loaded({ agents: { defaults: { subagents: { allowAgents } }, reviewer: {} } }))
      .notices;
  assert.deepEqual(await notices('main', 'explore', 'reviewer'), []);
  const [notice = '', ...more] = await notices('reviewer', 'revewer');
  assert.deepEqual(more, []);
  assert.match(
    notice,
    /^agents\.defaults\.subagents\.allowAgents in .*: no profile "revewer" in this folder, .*Did you mean reviewer\? Profiles: main, /,
  );
});

it('a profile, even if no model can be chosen without it', async () => {
  home.configure({ agents: { reviewer: { model: 'a/b' } } });
  const { stderr } = await home.run(['run', 'x', '--profile', 'revewer']);
  assert.match(stderr, /no profile called "revewer"[\s\S]*Did you mean reviewer\?/);
});

it('in the rules of the command line and of all agents', async () => {
  const config = (rules: { allow?: string[]; deny?: string[] }, configured = {}) =>
    told(async () =>
      composeRoot(await loaded({ agents: { defaults: { permissions: configured } } }), DEFAULT_TERMS, {
        model: 'a/b',
        ...rules,
      }),
    );
  const wrong = /^invalid rule "bsh:git": there is no tool "bsh"\. Did you mean bash\? Tools: bash, /;
  assert.match(await config({ allow: ['bsh:git'] }), wrong);
  assert.match(await config({ deny: ['bsh:git'] }), wrong);
  assert.match(await config({}, { ask: ['bsh:git'] }), wrong);
  // Tools that rules do not apply to cannot be named in rules.
  assert.match(await config({ deny: ['send'] }), /there is no tool "send"/);
  assert.equal(await config({ deny: ['fork'] }, { ask: ['spawn_agents', 'slash'] }), 'nothing');
  assert.match(await config({ deny: ['mcp_*'] }), /there is no tool "mcp_\*"/);
  assert.equal(
    await config({ allow: ['*', 'r*', 'bash:git *', 'cron:list'], deny: ['acp:fetch'] }),
    'nothing',
  );
});

it('in limits', async () => {
  assert.match(
    await told(() => parseLimits(['chldren=3'])),
    /no limit called "chldren"\nDid you mean children\?/,
  );
  assert.match(await told(() => parseLimits(['constructor=3'])), /no limit called "constructor"/);
  assert.match(
    await told(() => checkedLimits({ trns: 3 } as object)),
    /no limit called "trns"\nDid you mean turns\?/,
  );
});

it('the tools that may be named are those that there are', () => {
  assert.deepEqual(
    [...TOOL_NAMES],
    [...createBuiltInTools().map((tool) => tool.spec.name), 'cron', 'workflow'],
  );
});
