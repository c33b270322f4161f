import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAnthropicServer } from '../../test/servers/anthropic-server.ts';
import { startGoogleServer } from '../../test/servers/google-server.ts';
import { startOpenAiChatServer } from '../../test/servers/openai-chat-server.ts';
import { startOpenAiResponsesServer } from '../../test/servers/openai-responses-server.ts';
import type { ProtocolServer, ProtocolServerOptions } from '../../test/servers/protocol-server.ts';

/** Command with which a program starts `coppice mcp`. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Setting in which a program is tried: its own home folder, its working directory, the model's server and the command of the MCP server. */
export interface Place {
  readonly home: string;
  readonly work: string;
  readonly model_url: string;
  readonly server: ServerCommand;
}

interface Prepared {
  readonly args: (prompt: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A coding agent from npm (docs/mcp-clients.md). */
export interface ClientProgram {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly bin: string;
  readonly startModel: (options: ProtocolServerOptions) => Promise<ProtocolServer>;
  /** Writes the program's configuration; returns its arguments and environment. */
  readonly prepare: (place: Place) => Prepared;
}

function write(folder: string, name: string, content: object | string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

const claude: ClientProgram = {
  name: 'claude',
  package: '@anthropic-ai/claude-code',
  version: '2.1.332',
  bin: 'claude',
  startModel: startAnthropicServer,
  prepare({ home, model_url, server }) {
    const config = write(home, 'mcp.json', { mcpServers: { coppice: { type: 'stdio', ...server } } });
    return {
      args: (prompt) => [
        ...['-p', prompt, '--output-format', 'json', '--mcp-config', config, '--strict-mcp-config'],
        ...['--allowedTools', 'mcp__coppice'],
      ],
      env: {
        ANTHROPIC_BASE_URL: model_url,
        ANTHROPIC_API_KEY: 'any',
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        IS_SANDBOX: '1',
      },
    };
  },
};

const codex: ClientProgram = {
  name: 'codex',
  package: '@openai/codex',
  version: '0.169.0',
  bin: 'codex',
  startModel: startOpenAiResponsesServer,
  prepare({ home, model_url, server }) {
    write(
      home,
      '.codex/config.toml',
      [
        'model = "m"',
        'model_provider = "local"',
        'approval_policy = "never"',
        'check_for_update_on_startup = false',
        '[model_providers.local]',
        'name = "local"',
        `base_url = ${JSON.stringify(`${model_url}/v1`)}`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
        '[mcp_servers.coppice]',
        `command = ${JSON.stringify(server.command)}`,
        `args = ${JSON.stringify(server.args)}`,
        // Otherwise the first request is sent before the server has listed its tools.
        'required = true',
        'startup_timeout_sec = 60',
        'default_tools_approval_mode = "approve"',
        '',
      ].join('\n'),
    );
    return {
      args: (prompt) => ['exec', '--json', '--skip-git-repo-check', prompt],
      env: { CODEX_HOME: join(home, '.codex'), LOCAL_KEY: 'any' },
    };
  },
};

const opencode: ClientProgram = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  bin: 'opencode',
  startModel: startOpenAiChatServer,
  prepare({ work, model_url, server }) {
    write(work, 'opencode.json', {
      model: 'local/m',
      provider: {
        local: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${model_url}/v1`, apiKey: 'any' },
          models: { m: { name: 'm' } },
        },
      },
      // It asks its model without the tools of a server that has not listed them within 5 s by default.
      mcp: { coppice: { type: 'local', command: [server.command, ...server.args], timeout: 60_000 } },
    });
    return {
      args: (prompt) => ['run', '--format', 'json', prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    };
  },
};

const gemini: ClientProgram = {
  name: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  bin: 'gemini',
  startModel: startGoogleServer,
  prepare({ home, model_url, server }) {
    write(home, '.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: { coppice: { ...server, trust: true } },
    });
    return {
      args: (prompt) => [
        '-p',
        prompt,
        '--skip-trust',
        '--allowed-mcp-server-names',
        'coppice',
        '-m',
        'gemini-2.5-flash',
      ],
      env: { GEMINI_API_KEY: 'any', GOOGLE_GEMINI_BASE_URL: model_url },
    };
  },
};

export const CLIENT_PROGRAMS: readonly ClientProgram[] = [claude, codex, opencode, gemini];
