import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { knownProviders, usableModels } from '../../models/providers.ts';
import type { Profile } from '../../records/agent/profile.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { ModelChoice } from '../../tui/app-options.ts';
import type { Context } from './context.ts';

/** Default models, for when a key is set and no model is named. */
export const MODEL_BY_PROVIDER: readonly (readonly [string, string])[] = [
  ['anthropic', 'anthropic/claude-sonnet-4-5'],
  ['openai', 'openai/gpt-5'],
  ['google', 'google/gemini-2.5-pro'],
];

/** Returns `--model`, else the model of the profile or the configuration, else that of the first provider whose key is set. Throws `E_NO_KEY`. */
export function chooseModel(context: Context, profile?: Profile | null): string {
  const { configuration } = context.loaded;
  const named =
    context.options.model ?? profile?.model ?? configuration.agents?.defaults?.model ?? configuration.model;
  if (named !== undefined) return named;
  const providers = knownProviders(configuration.providers ?? {});
  for (const [provider, model] of MODEL_BY_PROVIDER) {
    const variables = providers.find((one) => one.name === provider)?.key_env ?? [];
    if (variables.some((variable) => (context.env[variable] ?? '').trim() !== '')) return model;
  }
  throw new CoppiceError('E_NO_KEY', 'No model key found. Nothing was sent anywhere.', {
    hint: [
      'Watch a 20-second demo (offline, scripted agents, real tools): coppice demo',
      'On a terminal: coppice setup',
      'Add a key: export ANTHROPIC_API_KEY=…, OPENAI_API_KEY=… or GOOGLE_GENERATIVE_AI_API_KEY=…',
      'Use a local model: --model ollama/NAME, or providers in the configuration (coppice doctor shows where)',
    ].join('\n'),
  });
}

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
