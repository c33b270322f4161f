import type { Store } from '../../store/store.ts';

/** Whether a person allowed this agent this tool for as long as it lives. */
export async function isGranted(store: Store, agent_id: string, tool: string): Promise<boolean> {
  const asks = await store.asks({ agent_id });
  return asks.some((ask) => ask.tool === tool && ask.verdict === 'allow' && ask.scope === 'agent');
}
