/**
 * Folders whose files decide what runs outside the tools: the runtime's own settings, git's hooks and
 * configuration. Tools that write never touch them, whatever a policy allows: a settings file made by an agent
 * would be an agent that gives itself permissions (compare CVE-2026-25725).
 */
const protectedNames = new Set(['.coppice', '.git']);

/** Characters that some file systems drop from names when they compare them. */
const ignored = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The protected part of a canonical path relative to the workspace (`.git` in `sub/.git/hooks/pre-commit`), or
 * undefined. Compares as a file system would that knows no case.
 */
export function protectedPart(relative_path: string): string | undefined {
  for (const part of relative_path.split(/[/\\]/)) {
    const plain = part
      .normalize('NFKC')
      .replace(ignored, '')
      .replace(/[. ]+$/, '')
      .toLowerCase();
    if (protectedNames.has(plain) || plain === 'git~1') return part;
  }
  return undefined;
}
