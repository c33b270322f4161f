import { BLANK_PROFILE, type Profile } from '../../../src/records/agent/profile.ts';

/** A blank profile except for these fields. */
export function profileOf(over: Partial<Profile>): Profile {
  return { ...BLANK_PROFILE, name: 'some', source: 'config', ...over };
}
