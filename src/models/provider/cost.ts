import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Price } from './provider-config.ts';

/** US dollars of one answer. What a price does not name apart costs what other input costs. */
export function costOf(usage: LanguageModelV4Usage, price: Price): number {
  const input = usage.inputTokens.total ?? 0;
  const cached = usage.inputTokens.cacheRead ?? 0;
  const written = usage.inputTokens.cacheWrite ?? 0;
  const output = usage.outputTokens.total ?? 0;
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
