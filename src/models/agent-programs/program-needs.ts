import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { SandboxNeeds } from '../../processes/sandbox/sandbox-needs.ts';
import type { AcpServerConfig } from './acp-config.ts';

interface Needs {
  /** The vendor's server, and those that renew the login. */
  readonly hosts: readonly string[];
  /** Folder below the home folder that holds login, settings and sessions. */
  readonly folder: string;
  readonly files?: readonly string[];
  /** Whether the program reports the cost of every prompt. */
  readonly tells_cost?: true;
}

const CLAUDE: Needs = {
  hosts: ['api.anthropic.com:443', 'platform.claude.com:443'],
  folder: '.claude',
  files: ['.claude.json'],
  tells_cost: true,
};

/** Needs by command. Programs that serve many vendors are not listed: only their configuration says which vendor they use. */
const KNOWN: Readonly<Record<string, Needs>> = {
  'claude-agent-acp': CLAUDE,
  'claude-code-acp': CLAUDE,
  'codex-acp': {
    hosts: ['api.openai.com:443', 'chatgpt.com:443', 'auth.openai.com:443'],
    folder: '.codex',
  },
  gemini: {
    hosts: [
      'generativelanguage.googleapis.com:443',
      'cloudcode-pa.googleapis.com:443',
      'oauth2.googleapis.com:443',
    ],
    folder: '.gemini',
  },
};

/**
 * The sandbox settings of an agent program: those of its configuration entry, or else what programs of this name are known to need (docs/acp.md). Without
 * either, `hosts` is undefined.
 */
export function programNeeds({ command, sandbox, hosts, writable, sockets }: AcpServerConfig): SandboxNeeds {
  const known = sandbox === 'off' ? undefined : knownNeeds(command);
  return {
    ...{ sandbox, sockets },
    hosts: hosts ?? known?.hosts,
    writable: writable ?? (known === undefined ? [] : stateOf(known)),
  };
}

export function tellsCost({ command }: Pick<AcpServerConfig, 'command'>): boolean {
  return knownNeeds(command)?.tells_cost === true;
}

function knownNeeds(command: string): Needs | undefined {
  const named = basename(command);
  return Object.hasOwn(KNOWN, named) ? KNOWN[named] : undefined;
}

function stateOf({ folder, files = [] }: Needs): readonly string[] {
  return [
    `~/${folder}`,
    ...files.filter((name) => existsSync(join(homedir(), name))).map((name) => `~/${name}`),
  ];
}
