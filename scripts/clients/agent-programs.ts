import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAnthropicServer } from '../../test/servers/anthropic-server.ts';
import { startGoogleServer } from '../../test/servers/google-server.ts';
import { startOpenAiChatServer } from '../../test/servers/openai-chat-server.ts';
import { startOpenAiResponsesServer } from '../../test/servers/openai-responses-server.ts';
import type { ProtocolServer, ProtocolServerOptions } from '../../test/servers/protocol-server.ts';

/** Price for programs that do not always report their cost. */
const PRICE = { input: 1, output: 2 };

interface Place {
  readonly home: string;
  readonly work: string;
  /** URL of the model's server. */
  readonly url: string;
}

/** An agent program from npm that speaks the Agent Client Protocol (docs/acp.md). */
export interface AgentProgram {
  readonly name: string;
  readonly spec: string;
  readonly bin: string;
  readonly startModel: (options: ProtocolServerOptions) => Promise<ProtocolServer>;
  /** Name of a mode of the program. */
  readonly mode?: string;
  /** Writes the program's settings, creates its folders, and returns its configuration entry without the command. */
  readonly entry: (place: Place) => object;
}

function write(path: string, content: object | string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Creates folders that must exist for the program to write to. Returns their paths below `~`. */
function made(home: string, ...names: readonly string[]): readonly string[] {
  for (const name of names) mkdirSync(join(home, name), { recursive: true });
  return names.map((name) => `~/${name}`);
}

const claude: AgentProgram = {
  name: 'claude',
  spec: '@agentclientprotocol/claude-agent-acp@0.101.0',
  bin: 'claude-agent-acp',
  startModel: startAnthropicServer,
  entry: ({ home, url }) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'any',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      IS_SANDBOX: '1',
    },
    writable: made(home, '.claude'),
  }),
};

const codex: AgentProgram = {
  name: 'codex',
  spec: '@agentclientprotocol/codex-acp@2.6.0',
  bin: 'codex-acp',
  mode: 'read-only',
  startModel: startOpenAiResponsesServer,
  entry({ home, url }) {
    write(
      join(home, '.codex', 'config.toml'),
      [
        ...['model = "m"', 'model_provider = "local"', 'check_for_update_on_startup = false'],
        ...['[model_providers.local]', 'name = "local"', `base_url = "${url}/v1"`],
        ...['wire_api = "responses"', 'env_key = "LOCAL_KEY"', ''],
      ].join('\n'),
    );
    return { price: PRICE, env: { LOCAL_KEY: 'any' }, writable: made(home, '.codex') };
  },
};

const gemini: AgentProgram = {
  name: 'gemini',
  spec: '@google/gemini-cli@0.61.0',
  bin: 'gemini',
  startModel: startGoogleServer,
  entry({ home, url }) {
    write(join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    });
    return {
      price: PRICE,
      args: ['--acp'],
      env: { GEMINI_API_KEY: 'any', GOOGLE_GEMINI_BASE_URL: url },
      writable: made(home, '.gemini'),
    };
  },
};

const opencode: AgentProgram = {
  name: 'opencode',
  spec: 'opencode-ai@1.18.33',
  bin: 'opencode',
  startModel: startOpenAiChatServer,
  entry({ home, work, url }) {
    write(join(work, 'opencode.json'), {
      model: 'local/m',
      provider: {
        local: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'any' },
          models: {
            m: { name: 'm', limit: { context: 100_000, output: 8_000 }, cost: { input: 1, output: 2 } },
          },
        },
      },
    });
    return {
      price: PRICE,
      args: ['acp'],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      writable: made(
        home,
        ...['.local/share/opencode', '.local/state/opencode', '.config/opencode', '.cache/opencode'],
      ),
    };
  },
};

const qwen: AgentProgram = {
  name: 'qwen',
  spec: '@qwen-code/qwen-code@0.24.4',
  bin: 'qwen',
  startModel: startOpenAiChatServer,
  entry({ home, url }) {
    write(join(home, '.qwen', 'settings.json'), {
      security: { auth: { selectedType: 'openai' } },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      // Otherwise it asks for what it should remember, after each answer.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
    });
    return {
      price: PRICE,
      args: ['--acp', '--auth-type', 'openai'],
      env: { OPENAI_API_KEY: 'any', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' },
      writable: made(home, '.qwen'),
    };
  },
};

export const AGENT_PROGRAMS: readonly AgentProgram[] = [claude, codex, gemini, qwen, opencode];
