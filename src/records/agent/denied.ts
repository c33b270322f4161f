import type { Denied } from './deeds.ts';

/** Maximum kinds that are told apart; it bounds the state that every step writes. */
const KINDS_MAX = 8;
const SHOWN_MAX = 3;

/** Adds up lists of denied calls. The rule that would have allowed most calls comes first, calls that none would have allowed last. */
export function deniedIn(...lists: readonly (readonly Denied[] | undefined)[]): readonly Denied[] {
  const kinds = new Map<string, Denied>();
  for (const { calls, ...kind } of lists.flatMap((list = []) => list)) {
    const is_known = kinds.size < KINDS_MAX || kinds.has(JSON.stringify(kind));
    const told = is_known ? kind : { tool: kind.tool };
    const key = JSON.stringify(told);
    kinds.set(key, { ...told, calls: (kinds.get(key)?.calls ?? 0) + calls });
  }
  const rank = ({ allow }: Denied) => (allow === undefined ? 1 : 0);
  return [...kinds.values()].sort((a, b) => rank(a) - rank(b) || b.calls - a.calls);
}

export function deniedCalls(denied: readonly Denied[] = []): number {
  return denied.reduce((sum, { calls }) => sum + calls, 0);
}

/** `6 calls denied: bash (--allow "bash:echo *")`; null if none were. The flag works as it stands in a shell. */
export function deniedLine(denied: readonly Denied[] = []): string | null {
  const calls = deniedCalls(denied);
  const kinds = denied.slice(0, SHOWN_MAX).map(({ tool, allow, why }) => {
    const hint = allow === undefined ? why : `--allow ${quoted(allow)}`;
    return hint === undefined ? tool : `${tool} (${hint})`;
  });
  const more = denied.length > SHOWN_MAX ? ', …' : '';
  return calls === 0 ? null : `${calls} call${calls === 1 ? '' : 's'} denied: ${kinds.join(', ')}${more}`;
}

function quoted(rule: string): string {
  return /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", "'\\''")}'` : `"${rule}"`;
}
