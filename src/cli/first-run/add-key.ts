import { knownProviders, reachOf } from '../../models/providers.ts';
import { MODEL_BY_PROVIDER } from '../setup/choose-model.ts';
import { confirmModel } from './confirm-model.ts';
import type { Dialogue } from './dialogue.ts';
import { listModels } from './local-servers.ts';
import type { Found, Known } from './try-model.ts';

const KEYS = new Map(knownProviders({}).map(({ name, key_env: [variable = ''] }) => [name, variable]));

/** Providers, each with the page on which its keys are created. */
const PROVIDERS = (
  [
    ['anthropic', 'Anthropic', 'https://console.anthropic.com/settings/keys'],
    ['openai', 'OpenAI', 'https://platform.openai.com/api-keys'],
    ['google', 'Google', 'https://aistudio.google.com/apikey'],
    ['openrouter', 'OpenRouter', 'https://openrouter.ai/keys'],
  ] as const
).map(([name, title, page]) => ({ name, title, page, variable: KEYS.get(name) ?? '' }));

type KeyProvider = (typeof PROVIDERS)[number];

/** Printed on terminals that always show what is typed, where no key is asked for. */
const BY_HAND = [
  'This terminal shows what is typed, so set the key as a variable, then start again:',
  ...PROVIDERS.map(({ variable }) => `  export ${variable}=…`),
];

/** Asks for a provider and its key, and tries it. Resolves to `told` if the person was told how to set the key by hand. */
export async function addKey(dialogue: Dialogue, known: Known): Promise<Found | 'told' | null> {
  if (dialogue.line_mode) {
    dialogue.print(...BY_HAND);
    return 'told';
  }
  while (!dialogue.ended) {
    const choices = PROVIDERS.map(({ title, page }) => ({ text: title, detail: page }));
    const chosen = PROVIDERS[(await dialogue.choose('Whose key?', choices)) ?? -1];
    if (chosen === undefined) return null;
    const found = await keyOf(dialogue, chosen, known);
    if (found !== null) return found;
  }
  return null;
}

async function keyOf(dialogue: Dialogue, provider: KeyProvider, known: Known): Promise<Found | null> {
  while (!dialogue.ended) {
    const key = await askKey(dialogue, provider.title);
    if (key === null) return null;
    const model = await modelOf(dialogue, provider, key, known);
    if (model === null) continue;
    const found = { model, keys: { [provider.variable]: key }, providers: {} };
    const proof = await confirmModel(dialogue, found, known);
    if (proof === 'keep') return found;
    if (proof === 'key_refused')
      dialogue.print('Paste it once more, or make a new one:', `  ${provider.page}`);
  }
  return null;
}

/** Asks for a key without showing it; strips quotes and `export NAME=`. Null if the person goes back or leaves. */
export async function askKey(dialogue: Dialogue, title: string): Promise<string | null> {
  while (!dialogue.ended) {
    const text = await dialogue.ask(`Paste the key of ${title}; it is not shown:`, { hidden: true });
    if (text === null) return null;
    const key = text.replace(/^(?:export\s+)?[A-Z_]+=/, '').replace(/^(["'])(.*)\1$/, '$2');
    if (/^[!-~]+$/.test(key)) return key;
    dialogue.print('✗ Not a valid key: it contains spaces or other characters that keys do not have');
  }
  return null;
}

/** Returns the default model of the provider, or one that the person chooses from its list. */
async function modelOf(
  dialogue: Dialogue,
  { name, variable }: KeyProvider,
  key: string,
  known: Known,
): Promise<string | null> {
  const usual = MODEL_BY_PROVIDER.find(([provider]) => provider === name)?.[1];
  if (usual !== undefined) return usual;
  const { base_url = '' } = reachOf(name, { ...known, env: { ...known.env, [variable]: key } });
  return askModel(dialogue, name, base_url, key);
}

/** Lets the person choose one of a server's models, or type a name if the server lists none. */
export async function askModel(
  dialogue: Dialogue,
  provider: string,
  base_url: string,
  key: string | null,
): Promise<string | null> {
  const listing = await dialogue.wait(`Asking ${new URL(base_url).host} for its models …`, (signal) =>
    listModels(base_url, { key, signal }),
  );
  if (listing === null) return null;
  if (!listing.ok || listing.models.length === 0) {
    dialogue.print(`${new URL(base_url).host}: ${listing.ok ? 'it lists no models' : listing.error}`);
    const typed = await dialogue.ask('Name of the model:');
    return typed === null ? null : `${provider}/${typed}`;
  }
  const models = listing.models.map((text) => ({ text }));
  const chosen = listing.models[(await dialogue.choose('Which model?', models)) ?? -1];
  return chosen === undefined ? null : `${provider}/${chosen}`;
}
