import type { Profile } from '../../records/agent/profile.ts';

const AS_THE_CREATOR: Omit<Profile, 'name' | 'description' | 'turns'> = {
  model: null,
  thinking: null,
  toolsets: null,
  tools: null,
  deny_tools: [],
  system: null,
  run_ms: null,
  permissions: { allow: [], ask: [], deny: [] },
  source: 'built in',
};

/** Profiles that are always there; the user may redefine them. */
export const BUILT_IN_PROFILES: readonly Profile[] = [
  {
    name: 'explore',
    description: 'Finds and reads; changes nothing.',
    ...AS_THE_CREATOR,
    tools: ['read', 'search', 'think', 'read_image'],
    turns: 20,
  },
  {
    name: 'work',
    description: 'Does a task of its own with all that its creator has.',
    ...AS_THE_CREATOR,
    turns: 50,
  },
];
