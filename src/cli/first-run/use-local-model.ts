import { apiAddress, type ProviderConfig } from '../../models/provider/provider-config.ts';
import { isBuiltIn } from '../../models/providers.ts';
import { askKey, askModel } from './add-key.ts';
import { confirmModel } from './confirm-model.ts';
import type { Dialogue } from './dialogue.ts';
import { type LocalServer, listModels, usualServers } from './local-servers.ts';
import type { Found, Known } from './try-model.ts';

/** Looks for local servers on their usual ports, or asks for an address, and tries a model. */
export async function useLocalModel(dialogue: Dialogue, known: Known): Promise<Found | null> {
  while (!dialogue.ended) {
    const servers = usualServers(known);
    const listings = await dialogue.wait('Looking for servers on their usual ports …', (signal) =>
      Promise.all(servers.map(({ base_url }) => listModels(base_url, { signal }))),
    );
    if (listings === null) return null;
    const models = servers.flatMap((server, index) => {
      const listing = listings[index];
      return listing?.ok === true ? listing.models.map((model) => ({ server, model })) : [];
    });
    const empty = servers.filter((_, index) => {
      const listing = listings[index];
      return listing?.ok === true && listing.models.length === 0;
    });
    for (const { title } of empty) {
      const pull = title === 'Ollama' ? ': in another terminal, ollama pull qwen3, then look again' : '';
      dialogue.print(`${title} runs, but has no model yet${pull}`);
    }
    if (models.length === 0 && empty.length === 0) {
      const places = servers.map(({ title, base_url }) => `${title} (${new URL(base_url).host})`);
      dialogue.print(`No server answers: ${places.join(', ')}`);
    }
    const choices = [
      ...models.map(({ server, model }) => ({ text: model, detail: server.title })),
      { text: 'Another address' },
      { text: 'Look again' },
    ];
    const chosen = await dialogue.choose('Which model?', choices);
    if (chosen === null) return null;
    if (chosen === models.length + 1) continue;
    const found = await foundAt(dialogue, models[chosen] ?? null, known);
    if (found === null) continue;
    if ((await confirmModel(dialogue, found, known)) === 'keep') return found;
  }
  return null;
}

async function foundAt(
  dialogue: Dialogue,
  chosen: { readonly server: LocalServer; readonly model: string } | null,
  known: Known,
): Promise<Found | null> {
  if (chosen === null) return elsewhere(dialogue, known);
  const { name, base_url } = chosen.server;
  if (isBuiltIn(name)) return { model: `${name}/${chosen.model}`, keys: {}, providers: {} };
  const provider = freeName(name, base_url, known);
  return {
    model: `${provider}/${chosen.model}`,
    keys: {},
    providers: { [provider]: { ...known.providers[provider], ...entry(base_url) } },
  };
}

/** Asks for the address of a server, and for a key if the server wants one. */
async function elsewhere(dialogue: Dialogue, known: Known): Promise<Found | null> {
  let base_url = 'http://127.0.0.1:';
  while (!dialogue.ended) {
    const typed = await dialogue.ask('Address of an OpenAI-compatible server:', {
      text: dialogue.line_mode ? '' : base_url,
    });
    if (typed === null) return null;
    base_url = typed;
    const address = addressOf(typed);
    if (address === null) {
      dialogue.print(`✗ ${typed} is not a valid address: write it like http://127.0.0.1:8000/v1`);
      continue;
    }
    const listing = await dialogue.wait(`Asking ${new URL(address).host} …`, (signal) =>
      listModels(address, { signal }),
    );
    if (listing === null) continue;
    if (!listing.ok && !listing.wants_key) {
      dialogue.print(`✗ ${address}: ${listing.error}`);
      continue;
    }
    const key = listing.ok ? null : await keyFor(dialogue, address);
    if (!listing.ok && key === null) continue;
    const provider = freeName('local', address, known);
    const model = await askModel(dialogue, provider, address, key);
    if (model === null) continue;
    const variable = `${provider.toUpperCase()}_API_KEY`;
    return {
      model,
      keys: key === null ? {} : { [variable]: key },
      providers: {
        [provider]: {
          ...known.providers[provider],
          ...entry(address),
          ...(key === null ? {} : { apiKeyEnv: variable }),
        },
      },
    };
  }
  return null;
}

async function keyFor(dialogue: Dialogue, address: string): Promise<string | null> {
  if (!dialogue.line_mode) return askKey(dialogue, new URL(address).host);
  dialogue.print(
    'It wants a key, and this terminal shows what is typed: see docs/configuration.md, providers',
  );
  return null;
}

function entry(baseURL: string): ProviderConfig {
  return { type: 'openai-compatible', baseURL };
}

/** Adds a missing scheme (`http`) or path (`/v1`) to an address; null if it is invalid. */
function addressOf(text: string): string | null {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) return null;
  return apiAddress('openai-compatible', url, new URL(url).pathname === '/' ? '/v1' : '');
}

/** Returns a name of a provider that the configuration does not use for another address. */
function freeName(name: string, base_url: string, { providers }: Known): string {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name}${count}`;
    const taken = providers[candidate];
    if (taken === undefined || taken.baseURL === base_url) return candidate;
  }
}
