/** Why these toolsets cannot serve one agent, as a sentence; null when they can. */
export function toolsetClash(toolsets: readonly string[]): string | null {
  if (!toolsets.includes('process') || !toolsets.includes('slash')) return null;
  return 'an agent has the toolset process or slash, not both';
}
