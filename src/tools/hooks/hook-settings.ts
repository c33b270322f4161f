// Hooks: commands of a person that run at named points of an agent's work (docs/hooks.md).
import * as z from 'zod';
import { OTHER_NAMES } from '../../permissions/tool-permission.ts';
import { orElse } from '../../records/coppice-error.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { HOOK_EVENTS, type HookEvent } from '../../records/hook.ts';

/** How long a hook may take; `timeout` is in seconds. */
export const HOOK_SECONDS = 60;
const HOOK_SECONDS_MAX = 600;

const command = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  timeout: z.number().positive().max(HOOK_SECONDS_MAX).optional(),
});

const group = z.strictObject({
  /** A regular expression for the whole name of a tool; left out, empty or `*`: every tool. */
  matcher: z
    .string()
    .refine((text) => orElse(() => new RegExp(text), null) !== null, 'must be a regular expression')
    .optional(),
  hooks: z.array(command),
});

/** `agentHooks` of the configuration, in the form of Claude Code's settings. */
export const hookSettings = z.partialRecord(z.enum(HOOK_EVENTS), z.array(group));

export type HookSettings = DeepReadonly<z.infer<typeof hookSettings>>;
export type HookCommand = z.infer<typeof command>;

/** What of the `hooks` of another program's settings can be used, and what is left out and why. */
export function readHooks(value: unknown): {
  readonly hooks: HookSettings;
  readonly faults: readonly string[];
} {
  const hooks: Partial<Record<HookEvent, z.infer<typeof group>[]>> = {};
  const faults: string[] = [];
  const groups = z
    .record(z.string(), z.array(z.looseObject({ hooks: z.array(z.unknown()) })))
    .safeParse(value);
  if (!groups.success) return { hooks, faults: ['"hooks" does not have the form of hooks'] };
  for (const [name, list] of Object.entries(groups.data)) {
    const event = HOOK_EVENTS.find((one) => one === name);
    if (event === undefined) {
      faults.push(`hooks of ${name} are ignored: there is no such point here`);
      continue;
    }
    for (const { matcher, hooks: commands } of list) {
      const known = commands.flatMap((one) => {
        const { type, command: text, timeout } = (one ?? {}) as Record<string, unknown>;
        const read = command.safeParse({ type, command: text, ...(timeout !== undefined && { timeout }) });
        if (!read.success) faults.push(`a hook of ${name} is ignored: only commands are run`);
        return read.success ? [read.data] : [];
      });
      const whole = group.safeParse({ ...(matcher !== undefined && { matcher }), hooks: known });
      if (!whole.success) faults.push(`hooks of ${name} are ignored: the matcher is no regular expression`);
      else if (known.length > 0) hooks[event] = [...(hooks[event] ?? []), whole.data];
    }
  }
  return { hooks, faults };
}

/** The names of a tool, the one that hooks are told first: that of Claude Code, if it has one. */
export function hookToolNames(tool: string): readonly [string, ...string[]] {
  const server = tool.includes('__') ? [`mcp__${tool}`] : [];
  const [first = tool, ...more] = [...(OTHER_NAMES[tool] ?? server), tool];
  return [first, ...more];
}

/** The commands for an event, each of them once. */
export function matchingHooks(
  settings: readonly HookSettings[],
  event: HookEvent,
  tool: string | undefined,
): readonly HookCommand[] {
  const fits = ({ matcher = '' }: { readonly matcher?: string | undefined }) =>
    tool === undefined ||
    matcher === '' ||
    matcher === '*' ||
    hookToolNames(tool).some((name) => new RegExp(`^(?:${matcher})$`).test(name));
  const all = settings.flatMap((one) => (one[event] ?? []).filter(fits).flatMap(({ hooks }) => hooks));
  return all.filter((one, at) => all.findIndex(({ command }) => command === one.command) === at);
}
