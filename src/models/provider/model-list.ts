import { isJsonObject, parsedObject } from '../../records/text/json-text.ts';
import { clean } from '../../render/clean.ts';
import { nearestName } from '../../render/nearest-name.ts';
import { getText, type HttpText } from './http-fetch.ts';
import { type ProviderConfig, splitQuery } from './provider-config.ts';

type Type = ProviderConfig['type'];

/** Where a provider of this type is, if nothing else is said. */
export const USUAL_ADDRESS: Readonly<Partial<Record<Type, string>>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

const MODELS_MAX = 2_000;
const TIMEOUT_MS = 2_000;

export interface ListTerms {
  readonly type: Type;
  readonly base_url: string;
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
  readonly idle_ms: number;
}

/** Asks a provider for its list of models, which is free. Rejects if it cannot be reached. */
export function askForModels({ type, base_url, key, headers, ...patience }: ListTerms): Promise<HttpText> {
  const { base, query } = splitQuery(base_url);
  return getText(
    `${base}/models${query}`,
    { ...(key === null ? {} : keyHeaders(type, key)), ...headers },
    patience,
  );
}

function keyHeaders(type: Type, key: string): Record<string, string> {
  if (type === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  return type === 'google' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` };
}

/** Names of the models in a list, in the forms of OpenAI and of Google; null if the text is no such list. */
export function modelsIn(text: string): readonly string[] | null {
  const parsed = parsedObject(text);
  const list = parsed?.data ?? parsed?.models;
  if (!Array.isArray(list)) return null;
  return list.slice(0, MODELS_MAX).flatMap((one: unknown) => {
    const id = isJsonObject(one) ? (one.id ?? one.name) : null;
    return typeof id === 'string' && id !== '' && clean(id) === id ? [id.replace(/^models\//, '')] : [];
  });
}

/** A sentence with the model of this provider whose name is nearest, or with how to see them all; empty if the provider does not list them. Never rejects. */
export async function nearModel(
  model: string,
  terms: Omit<ListTerms, 'signal' | 'idle_ms' | 'base_url'> & { readonly base_url: string | undefined },
): Promise<string> {
  const base_url = terms.base_url ?? USUAL_ADDRESS[terms.type];
  if (base_url === undefined) return '';
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await askForModels({ ...terms, base_url, signal, idle_ms: TIMEOUT_MS }).catch(() => null);
  const models = modelsIn(answer?.text ?? '') ?? [];
  if (models.length === 0) return '';
  const within = models.filter((name) => name.includes(model) || model.includes(name));
  const nearest = nearestName(model, models) ?? within[0];
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return `; it has ${models.slice(0, 5).join(', ')}${models.length > 5 ? `, and ${models.length - 5} more` : ''}`;
}
