import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { usableModels } from '../../models/providers.ts';
import type { ModelChoice } from '../../tui/app-options.ts';
import type { Context } from './context.ts';

/** Returns the models that a person may choose from: those that are named somewhere, then known models of providers with a key, then agent programs. */
export function modelChoices(
  { loaded, options, env }: Context,
  { profiles }: ToolsetTerms,
): readonly ModelChoice[] {
  const { model, agents, providers = {}, acp = {} } = loaded.configuration;
  const named: readonly (readonly [string | null | undefined, string])[] = [
    [options.model, '--model'],
    [agents?.defaults?.model, 'configured'],
    [model, 'configured'],
    [agents?.defaults?.subagents?.model, 'configured for sub-agents'],
    ...[...profiles].map(([name, profile]) => [profile.model, `profile ${name}`] as const),
    ...usableModels({ providers, env }).map((name) => [name, 'known'] as const),
    ...Object.keys(acp).map((name) => [`acp:${name}`, 'agent program'] as const),
  ];
  const notes = new Map<string, string>();
  for (const [name, note] of named) if (name != null && !notes.has(name)) notes.set(name, note);
  return [...notes].map(([name, note]) => ({ name, note }));
}
