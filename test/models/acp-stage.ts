import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { AcpServerConfig } from '../../src/models/agent-programs/acp-config.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../../src/models/model.ts';
import { openModel } from '../../src/models/providers.ts';
import type { Sandbox } from '../../src/processes/sandbox/sandbox.ts';
import type { AgentConfig, PermissionRules } from '../../src/records/agent/agent.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { createModelHost } from '../../src/settings/agent-program-host.ts';
import { agentPrograms } from '../../src/settings/agent-programs.ts';
import type { McpServerConfig } from '../../src/tools/mcp-servers/mcp-config.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface Folders {
  readonly cwd: string;
  /** A folder beside the agent's folder, which nothing may reach. */
  readonly outside: string;
}

/** Creates fresh folders for an agent, removed after the test. */
export function makeFolders(): Folders {
  const base = temporaryFolder();
  const folders = { cwd: join(base, 'work'), outside: join(base, 'outside') };
  mkdirSync(folders.cwd);
  mkdirSync(folders.outside);
  return folders;
}

export function agentConfig(
  cwd: string,
  rules: Partial<PermissionRules> = {},
  tools: readonly string[] = ['read', 'write', 'search', 'bash'],
): AgentConfig {
  return {
    model: 'acp:test',
    thinking: 'off',
    system: '',
    toolsets: [],
    tools,
    cwd,
    permissions: {
      cli: { allow: [], ask: [], deny: [], ...rules },
      config: { allow: [], ask: [], deny: [] },
    },
  };
}

export interface AcpStage {
  readonly model: Model;
  readonly cwd: string;
  readonly outside: string;
  /** Process ids of the running agent programs of this stage. */
  readonly processes: () => number[];
  /** Sends one request of the agent called `agent`, by default with a single user message. */
  readonly ask: (
    text: string | readonly PromptMessage[],
    over?: Partial<ModelRequest> & {
      readonly name?: string;
      readonly cwd?: string;
      readonly rules?: Partial<PermissionRules>;
      readonly onText?: (so_far: string) => void;
    },
  ) => Promise<{ readonly outcome: ModelOutcome; readonly deltas: readonly ModelDelta[] }>;
}

export const PROGRAM = join(import.meta.dirname, '../servers/acp-agent.ts');
let stages = 0;

/** A model backed by the test agent program, which is stopped after the test. */
export async function acpStage(
  test: TestContext,
  flags: readonly string[] = [],
  config: Partial<AcpServerConfig> & {
    /** Default: none. */
    readonly own_sandbox?: Sandbox | null;
    /** Must not be below /tmp with a sandbox, which has its own /tmp. */
    readonly folders?: Folders;
    /** The Node binary that runs the program, and the program's file. */
    readonly program?: readonly [string, string];
    readonly model?: string;
    /** `mcp.servers` of the configuration. */
    readonly servers?: Readonly<Record<string, McpServerConfig>>;
    readonly rules?: Partial<PermissionRules>;
  } = {},
): Promise<AcpStage> {
  const {
    model: name = 'acp:test',
    rules: default_rules,
    own_sandbox: sandbox = null,
    servers,
    ...others
  } = config;
  const { folders = makeFolders(), program: [command, file] = [process.execPath, PROGRAM], ...rest } = others;
  stages += 1;
  // Distinguishes the processes of this stage in the process table.
  const tag = `--stage-${process.pid}-${stages}`;
  const server: AcpServerConfig = { command, args: [file, tag, ...flags], ...rest };
  const model = await openModel(name, {
    providers: {},
    env: process.env,
    acp: {
      ...agentPrograms({ acp: { test: server }, mcp: { servers } }, process.env, null),
      sandboxFor: async () => sandbox,
    },
  });
  test.after(() => model.close?.());
  return {
    model,
    ...folders,
    processes: () => processesWith(tag),
    ask: async (text, over = {}) => {
      const { name: agent = 'a', rules = default_rules, onText, cwd = folders.cwd, ...request } = over;
      let so_far = '';
      const deltas: ModelDelta[] = [];
      const messages = typeof text === 'string' ? [{ role: 'user', text } as const] : text;
      const outcome = await model.stream(
        {
          system: '',
          messages,
          tools: [],
          thinking: 'off',
          shared_prefix: 0,
          signal: new AbortController().signal,
          agent: { id: agent, name: agent, parent_id: null },
          host: createModelHost(
            { config: agentConfig(cwd, rules), root_id: 'root' },
            {
              env_allow: [],
              store: { kind: 'postgres', location: '' },
              spill_dir: join(folders.outside, 'spill'),
              bounds: { sandbox, limits: null },
            },
          ),
          ...request,
        },
        (delta) => {
          deltas.push(delta);
          if (delta.type !== 'text') return;
          so_far += delta.text;
          onText?.(so_far);
        },
      );
      return { outcome, deltas };
    },
  };
}

/** A promise that resolves when the streamed text contains `text`; pass `onText` in the request. */
export function heard(text: string): {
  readonly said: Promise<void>;
  readonly onText: (so_far: string) => void;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { said: promise, onText: (so_far) => so_far.includes(text) && resolve() };
}

/** Ids of the processes that were started with this argument. */
export function processesWith(tag: string): number[] {
  return processesThat((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(tag));
}

/** Ids of the processes whose working directory is this folder. */
export function processesIn(cwd: string): number[] {
  return processesThat((pid) => readlinkSync(`/proc/${pid}/cwd`) === cwd);
}

function processesThat(matches: (pid: number) => boolean): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return matches(Number(name)) ? [Number(name)] : [];
    } catch {
      return []; // ended in the meantime
    }
  });
}

/** Returns the whole text of an answer; throws on any other outcome. */
export function said(outcome: ModelOutcome): string {
  if (outcome.type !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** Returns the kind and message of a failure; throws on any other outcome. */
export function failed(outcome: ModelOutcome): string {
  if (outcome.type !== 'failure') throw new Error(`no failure: ${JSON.stringify(outcome)}`);
  return `${outcome.failure.kind}: ${outcome.failure.error}`;
}
