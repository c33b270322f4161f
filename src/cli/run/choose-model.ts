import { knownProviders } from '../../models/providers.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Context } from '../setup/context.ts';

/** Used when a key is there and nobody named a model. */
const BY_KEY: readonly (readonly [string, string])[] = [
  ['anthropic', 'anthropic/claude-sonnet-4-5'],
  ['openai', 'openai/gpt-5'],
  ['google', 'google/gemini-2.5-pro'],
];

/** `--model`, the profile, the configuration, or the first provider whose key is set. Throws `E_NO_KEY`. */
export function chooseModel(context: Context, of_profile: string | null = null): string {
  const { configuration } = context.loaded;
  const named =
    context.options.model ?? of_profile ?? configuration.agents?.defaults?.model ?? configuration.model;
  if (named !== undefined) return named;
  const providers = knownProviders(configuration.providers ?? {});
  for (const [provider, model] of BY_KEY) {
    const variables = providers.find((one) => one.name === provider)?.key_env ?? [];
    if (variables.some((variable) => (context.env[variable] ?? '').trim() !== '')) return model;
  }
  throw new CoppiceError('E_NO_KEY', 'No model key found. Nothing was sent anywhere.', {
    hint: [
      'Watch a 20-second demo (offline, scripted agents, real tools): coppice demo',
      'Add a key: export ANTHROPIC_API_KEY=…, OPENAI_API_KEY=… or GOOGLE_GENERATIVE_AI_API_KEY=…',
      'Use a local model: --model ollama/NAME, or providers in the configuration (coppice doctor shows where)',
    ].join('\n'),
  });
}
