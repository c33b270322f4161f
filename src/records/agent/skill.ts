/** A folder with instructions for one kind of work; a model reads them when it needs them (docs/instructions.md). */
export interface Skill {
  /** Kebab-case; unique for an agent. */
  readonly name: string;
  /** One line: what the skill is for and when to use it. */
  readonly description: string;
  /** Absolute path. */
  readonly folder: string;
  /** Hash of the contents that the user accepted; null for the user's own skills. */
  readonly hash: string | null;
}

interface Skilled {
  readonly skills?: readonly Skill[];
}

/** The skills that the agent can read; none if it lacks the tool `skill`. */
export function skillsOf({
  skills = [],
  tools,
}: Skilled & { readonly tools: readonly string[] }): readonly Skill[] {
  return tools.includes('skill') ? skills : [];
}

export function profileSkills(
  skills: readonly Skill[] | undefined,
  profile: { readonly skills: readonly string[] | null } | null,
): Skilled {
  const allowed = profile?.skills ?? null;
  const kept = (skills ?? []).filter(({ name }) => allowed === null || allowed.includes(name));
  return kept.length === 0 ? {} : { skills: kept };
}

const HEAD =
  'Skills are instructions for certain kinds of work, which the user wrote or accepted. Before you do work of such a kind, read its skill with the tool skill. There are:';

/** The list of skills in the prompt; empty if there are none. */
export function skillText(skills: readonly Skill[]): string {
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  return lines.length === 0 ? '' : [HEAD, ...lines].join('\n');
}
