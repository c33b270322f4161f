import type { Agent } from '../../core/agent.ts';
import type { RefusalCode } from '../../toolsets/toolset.ts';

type Override = { readonly code: RefusalCode; readonly message: string };

/** The calls that would close a cycle (law 10), each with the error that names it. */
export function overrideFor(
  path: readonly string[],
  parked: readonly { readonly call_id: string; readonly from: readonly string[] }[],
  agent: (id: string) => Agent | undefined,
): readonly (readonly [string, Override])[] {
  const next = path[1];
  const names = path.map((id) => agent(id)?.name ?? id).join(' → ');
  const message = `nothing can come before your timeout, because these agents wait for each other, and none of them goes on before that: ${names}. Send your message and end your turn, or wait for somebody else.`;
  const closing = parked.filter((one) => next !== undefined && one.from.includes(next));
  return (closing.length > 0 ? closing : parked).map(
    (one) => [one.call_id, { code: 'WOULD_DEADLOCK', message }] as const,
  );
}
