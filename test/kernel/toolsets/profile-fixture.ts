import type { Profile } from '../../../src/records/agent/profile.ts';

/** A profile that says nothing but this. */
export function profileOf(over: Partial<Profile>): Profile {
  return {
    name: 'some',
    description: '',
    model: null,
    thinking: null,
    toolsets: null,
    tools: null,
    deny_tools: [],
    system: null,
    turns: null,
    run_ms: null,
    permissions: { allow: [], ask: [], deny: [] },
    source: 'config',
    ...over,
  };
}
