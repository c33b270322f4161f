import { BLANK_PROFILE, type Profile } from '../../../records/agent/profile.ts';

/** Profiles that always exist; the user may redefine them. */
export const BUILT_IN_PROFILES: readonly Profile[] = [
  {
    ...BLANK_PROFILE,
    source: 'built in',
    name: 'explore',
    description: 'Finds and reads; changes nothing.',
    tools: ['read', 'search', 'think', 'read_image', 'skill'],
    turns: 20,
  },
  {
    ...BLANK_PROFILE,
    source: 'built in',
    name: 'work',
    description: 'Does a task of its own with all that its creator has.',
    turns: 50,
  },
];
