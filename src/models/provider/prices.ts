import { given } from '../../records/text/json-fields.ts';
import type { Price, ProviderConfig } from './provider-config.ts';

/**
 * Public list prices in US dollars per million tokens as of January 2026, without discounts, batch prices, regions or service tiers. They become
 * outdated: `providers.NAME.models.MODEL.price` of the configuration takes precedence (docs/prices.md).
 */
const ANTHROPIC: Prices = {
  'claude-opus-4-6 claude-opus-4-5': [5, 25, 0.5, 6.25],
  'claude-opus-4-1 claude-opus-4-0 claude-opus-4': [15, 75, 1.5, 18.75],
  'claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4-0 claude-sonnet-4 claude-3-7-sonnet': [
    3, 15, 0.3, 3.75,
  ],
  'claude-haiku-4-5': [1, 5, 0.1, 1.25],
  'claude-3-5-haiku': [0.8, 4, 0.08, 1],
  'claude-3-haiku': [0.25, 1.25, 0.03, 0.3],
};

const OPENAI: Prices = {
  'gpt-5.2': [1.75, 14, 0.175],
  'gpt-5.2-pro': [21, 168],
  'gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max gpt-5 gpt-5-codex': [1.25, 10, 0.125],
  'gpt-5-pro': [15, 120],
  'gpt-5.1-codex-mini gpt-5-mini': [0.25, 2, 0.025],
  'gpt-5-nano': [0.05, 0.4, 0.005],
  'gpt-4.1 o3': [2, 8, 0.5],
  'gpt-4.1-mini': [0.4, 1.6, 0.1],
  'gpt-4.1-nano': [0.1, 0.4, 0.025],
  'gpt-4o': [2.5, 10, 1.25],
  'gpt-4o-mini': [0.15, 0.6, 0.075],
  'o3-pro': [20, 80],
  'o3-mini': [1.1, 4.4, 0.55],
  'o4-mini': [1.1, 4.4, 0.275],
  o1: [15, 60, 7.5],
};

/** The `-pro` models cost more for requests with over 200,000 tokens of input. */
const GOOGLE: Prices = {
  'gemini-3-pro-preview': [2, 12, 0.2, 2, { over: 200_000, input: 4, output: 18, cached: 0.4 }],
  'gemini-3-flash-preview': [0.5, 3, 0.05],
  'gemini-2.5-pro': [1.25, 10, 0.125, 1.25, { over: 200_000, input: 2.5, output: 15, cached: 0.25 }],
  'gemini-2.5-flash': [0.3, 2.5, 0.03],
  'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
  'gemini-2.0-flash': [0.1, 0.4, 0.025],
  'gemini-2.0-flash-lite': [0.075, 0.3],
};

/** By names of models that cost the same: prices of input, output, input read from a cache, input written to one, and of long requests. */
type Prices = Readonly<
  Record<string, readonly [number, number, number?, number?, NonNullable<Price['long']>?]>
>;

const byModel = (prices: Prices) =>
  new Map(Object.entries(prices).flatMap(([names, price]) => names.split(' ').map((name) => [name, price])));
const TABLES: Readonly<Partial<Record<ProviderConfig['type'], ReturnType<typeof byModel>>>> = {
  ...{ anthropic: byModel(ANTHROPIC), openai: byModel(OPENAI), google: byModel(GOOGLE) },
};

/** The suffix of a dated version of a model. */
const VERSION = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|preview-\d{2}-\d{4}|\d{3})$/;

/** Null for an unknown model. A name that merely starts like a known one may cost anything. */
export function listPrice(type: ProviderConfig['type'], model: string): Price | null {
  const table = TABLES[type];
  const found = table?.get(model) ?? table?.get(model.replace(VERSION, ''));
  if (found === undefined) return null;
  const [input, output, cached, cacheWrite, long] = found;
  return { input, output, ...given({ cached, cacheWrite, long }) };
}

export function listedModels(type: ProviderConfig['type']): readonly string[] {
  return [...(TABLES[type]?.keys() ?? [])];
}

/** Tokens of one answer; `cached` (read from a cache) and `written` (to one) are parts of `input`. */
export interface AnswerTokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly written: number;
}

/** Cost of one answer in US dollars. Token kinds without a price of their own cost as much as input. */
export function costOf({ input, output, cached, written }: AnswerTokens, price: Price): number {
  const { long } = price;
  const rate = long !== undefined && input > long.over ? { ...price, ...long } : price;
  const fresh = Math.max(input - cached - written, 0);
  const dollars =
    fresh * rate.input +
    cached * (rate.cached ?? rate.input) +
    written * (rate.cacheWrite ?? rate.input) +
    output * rate.output;
  return dollars / 1e6;
}
