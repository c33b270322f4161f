import { nearestName } from '../render/nearest-name.ts';

const NAME_MAX = 64;

/** Why this cannot be the name of a profile; null when it can. `defaults` is what the configuration calls all agents. */
export function profileNameFault(name: string): string | null {
  if (name === 'defaults') return '"defaults" is no name of a profile: it stands for all agents';
  // A slip for the word above: what was meant for all agents would hold for none.
  if (nearestName(name, ['defaults']) !== null)
    return `"${name}" is no name of a profile: what holds for all agents is called "defaults"`;
  if (name.length <= NAME_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return null;
  const shown = JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
  return `${shown} is no name of a profile: use small letters, digits and single hyphens, at most ${NAME_MAX}, for example code-reviewer`;
}
