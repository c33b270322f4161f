import { nearestName } from '../render/nearest-name.ts';

const NAME_MAX = 64;

/** Why this cannot be the name of a profile; null if it can. In the configuration `defaults` stands for all agents. */
export function profileNameFault(name: string): string | null {
  if (name === 'defaults') return '"defaults" is no name of a profile: it stands for all agents';
  // A misspelt `defaults`: what was meant for all agents would apply to none.
  if (nearestName(name, ['defaults']) !== null)
    return `"${name}" is no name of a profile: what holds for all agents is called "defaults"`;
  if (name.length <= NAME_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return null;
  const shown = JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
  return `${shown} is no name of a profile: use small letters, digits and single hyphens, at most ${NAME_MAX}, for example code-reviewer`;
}
