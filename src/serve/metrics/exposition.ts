/** The text format of Prometheus, version 0.0.4. */

import { keptIn } from '../../records/kept-in.ts';

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Labels have few values each: never ids. */
export type Labels = Readonly<Record<string, string>>;

export interface MetricTerms {
  readonly type: 'gauge' | 'counter' | 'summary';
  readonly help: string;
}

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export function exposed(name: string, { type, help }: MetricTerms, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Maximum combinations of labels; further ones are counted as `other`, because models make up tool names. */
const LABELS_MAX = 200;

/** A counter for each combination of labels. */
export class Counts {
  readonly #samples = new Map<string, { readonly labels: Labels; value: number }>();

  add(labels: Labels, by = 1): void {
    const key = JSON.stringify(labels);
    const found = this.#samples.get(key);
    if (found !== undefined) found.value += by;
    else if (this.#samples.size < LABELS_MAX) this.#samples.set(key, { labels, value: by });
    else this.#addOther(Object.keys(labels), by);
  }

  #addOther(names: readonly string[], by: number): void {
    const labels = Object.fromEntries(names.map((name) => [name, 'other']));
    const key = JSON.stringify(labels);
    keptIn(this.#samples, key, () => ({ labels, value: 0 })).value += by;
  }

  samples(): readonly Sample[] {
    return [...this.#samples.values()];
  }
}
