/** The points at which hooks run (docs/hooks.md). */
export const HOOK_EVENTS = [
  ...(['PreToolUse', 'PermissionRequest', 'PostToolUse'] as const),
  ...(['SessionStart', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'Notification'] as const),
];

export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What hooks have decided. They can only narrow: nothing that they say allows a call. */
export interface HookVerdict {
  /** Why it is not to be; null: no hook objects. */
  readonly deny: string | null;
  /** Why a person has to be asked; null: no hook wants that. */
  readonly ask: string | null;
  /** What the model is to be told. */
  readonly context: readonly string[];
}

/** The agent at whose work a hook runs. */
export interface HookPlace {
  readonly agent: { readonly id: string; readonly name: string; readonly root_id: string };
  readonly cwd: string;
  readonly mode: 'ask' | 'accept' | 'plan';
  /** The folder of the tree for `/tmp` of commands. */
  readonly shared: string;
  readonly env_allow: readonly string[];
  readonly signal: AbortSignal;
  /** Tells people of a hook that failed, or of what one has to say to them. */
  readonly tell: (text: string) => void;
}

/** What a hook is told beside the agent; `tool`: the tool that it is about. */
export interface HookFacts {
  readonly tool?: string;
  readonly [field: string]: unknown;
}

export interface Hooks {
  /**
   * Runs the hooks of an event side by side: those of the settings, and those of the project of this folder. `place` is asked only if there is one. Never
   * throws.
   */
  run(
    event: HookEvent,
    project: string,
    place: () => Promise<HookPlace>,
    facts: HookFacts,
  ): Promise<HookVerdict>;
}
