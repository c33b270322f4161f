import { askingRules, decide } from '../../permissions/decide.ts';
import { type Grant, grantOf, isCovered, reaches } from '../../permissions/grants/grant.ts';
import { readRules } from '../../permissions/grants/rules-file.ts';
import { modeOf, modeRefusal, withMode } from '../../permissions/mode.ts';
import { policyOf } from '../../permissions/policy.ts';
import { parseRule } from '../../permissions/rule.ts';
import { callTouches } from '../../permissions/touched-paths.ts';
import { treeOutput } from '../../processes/output/spill-folder.ts';
import type { CommandBounds } from '../../processes/sandbox/command-bounds.ts';
import type { Agent, AgentConfig, PermissionMode } from '../../records/agent/agent.ts';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import type { Hooks } from '../../records/hook.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { createBashTool } from '../../tools/bash.ts';
import { permissionOf } from '../../tools/built-in-permissions.ts';
import type { CalledText } from './called-text.ts';
import { NOBODY } from './read-attachments.ts';

/** How shell commands in the text of a called command run: as a call of `bash` by the agent that gets the text. */
export interface CommandShell {
  readonly bounds: CommandBounds;
  readonly hooks: Hooks;
  readonly env_allow: readonly string[];
  readonly spill_dir: string;
  readonly rules_file: string;
}

/** The rules that a person granted for this folder, and (`agent`) this agent. */
export async function grantsOf(
  { cwd }: AgentConfig,
  rules_file: string,
  agent: Agent | null,
  store: Pick<Store, 'grants'> | null,
): Promise<readonly Grant[]> {
  const asks = agent === null ? [] : ((await store?.grants({ root_id: agent.root_id })) ?? []);
  const place = { agent_id: agent?.id ?? '', root_id: agent?.root_id ?? '', cwd };
  const given = asks.filter(
    (ask) => ask.scope !== 'turn' && ask.scope !== 'always' && reaches(ask.scope, ask, place),
  );
  const kept = readRules(rules_file).filter(({ folder }) => folder === cwd);
  return [...given.flatMap((ask) => grantOf(ask) ?? []), ...kept];
}

/** The commands that a person must allow first. Throws `E_REFUSED` if the rules deny one. */
export function consentNeeded(
  { name, commands, allowed }: CalledText,
  config: AgentConfig,
  grants: readonly Grant[],
  mode = modeOf(config),
): readonly string[] {
  const bash = permissionOf('bash');
  const { permissions } = config;
  const own = { ...permissions.config, allow: [...permissions.config.allow, ...allowed.flatMap(rulesOf)] };
  const policy = withMode(policyOf({ ...config, permissions: { ...permissions, config: own } }), mode);
  const idle = modeRefusal(mode, bash) === null ? null : `${mode} mode runs no commands`;
  return commands.filter((command) => {
    const touched = callTouches(policy, bash, command, config.cwd);
    const { verdict, rule } = decide(policy, bash, command, touched);
    const why = idle ?? (verdict === 'deny' ? `denied by ${rule}` : null);
    if (why !== null)
      throw new CoppiceError('E_REFUSED', `/${name} was not sent: it would run ${clean(command)}: ${why}`);
    const call = { tool: 'bash', subject: command, subject_kind: 'command' as const };
    return verdict === 'ask' && !isCovered(grants, askingRules(policy, bash, command, touched), call);
  });
}

/** Allow rules for what other programs write as `Bash(git status:*)`; none for anything else. */
function rulesOf(written: string): readonly string[] {
  const [is_bash, pattern = '*'] = /^Bash(?:\((.+)\))?$/.exec(written) ?? [];
  if (is_bash === undefined) return [];
  const plain = pattern.replace(/:\*$/, '');
  const rules =
    pattern === '*' ? ['bash'] : [`bash:${plain}`, ...(plain === pattern ? [] : [`bash:${plain} *`])];
  return rules.filter((rule) => orElse(() => parseRule(rule, 'allow'), null) !== null);
}

/** Whose call of `bash` a command would be. */
export interface CommandCaller {
  readonly config: AgentConfig;
  readonly agent?: Agent | null;
  readonly mode?: PermissionMode;
  /** Folder of the main agent, in which hooks of the project are looked for. */
  readonly project: string;
  /** Tells people what a hook has to say. */
  readonly tell: (text: string) => void;
}

/** Shows each command to the hooks before a call. Throws `E_REFUSED` if one objects. Returns the commands that a person must allow: those `needed`, and those about which a hook wants that. */
export async function withHooks(
  { name, commands }: CalledText,
  needed: readonly string[],
  { hooks, env_allow, spill_dir }: Pick<CommandShell, 'hooks' | 'env_allow' | 'spill_dir'>,
  { config, agent = null, mode = modeOf(config), project, tell }: CommandCaller,
): Promise<readonly string[]> {
  const { signal } = NOBODY;
  const who = agent ?? { id: '', name: 'main', root_id: '' };
  const shared = treeOutput(spill_dir, who.root_id === '' ? 'none' : who.root_id);
  const place = async () => ({ agent: who, cwd: config.cwd, mode, shared, env_allow, signal, tell });
  const asked = new Set(needed);
  for (const command of commands) {
    const facts = { tool: 'bash', tool_use_id: `/${name}`, tool_input: { command } };
    const { deny, ask } = await hooks.run('PreToolUse', project, place, facts);
    if (deny !== null)
      throw new CoppiceError(
        'E_REFUSED',
        `/${name} was not sent: a hook objects to ${clean(command)}: ${clean(deny)}`,
      );
    if (ask !== null) {
      tell(`a hook wants you asked: ${clean(ask)}`);
      asked.add(command);
    }
  }
  return commands.filter((command) => asked.has(command));
}

/** Runs the commands one after the other, in the sandbox. Throws `E_REFUSED` if it cannot be set up. */
export async function outputsOf(
  { name, commands }: CalledText,
  { cwd }: AgentConfig,
  { bounds, env_allow, spill_dir }: CommandShell,
): Promise<readonly string[]> {
  const bash = createBashTool(bounds.sandbox, bounds.limits);
  const outputs: string[] = [];
  for (const command of commands) {
    const problem = await bash.refusal?.({ command }, { cwd });
    if (problem) throw new CoppiceError('E_REFUSED', `/${name} was not sent: ${problem}`);
    outputs.push((await bash.run({ command }, { ...NOBODY, cwd, env_allow, spill_dir })).output);
  }
  return outputs;
}
