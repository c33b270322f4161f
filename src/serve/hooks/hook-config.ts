import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { agentSettings, budgetSettings } from '../../settings/settings.ts';

/** Ways to prove who sent a delivery (docs/webhooks.md#signatures). */
const SIGNATURES = ['github', 'gitlab', 'linear', 'stripe', 'standard', 'hmac', 'bearer'] as const;
export type SignatureKind = (typeof SIGNATURES)[number];

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const rules = z.array(z.string()).optional();

/** One webhook that other programs send to: `hooks.NAME` of the configuration. */
export const hookConfig = agentSettings
  .pick({ model: true, thinking: true, toolsets: true, limits: true })
  .extend({
    signature: z.enum(SIGNATURES),
    /** The secret is given by the name of an environment variable, never by value. */
    secretEnv: z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable'),
    header: z.string().min(1).optional(),
    task: z.string().regex(/\S/, 'it is empty').optional(),
    workflow: z.string().min(1).optional(),
    args: z.unknown().optional(),
    key: z.string().min(1).optional(),
    on: z.array(z.string().min(1)).min(1).optional(),
    when: z.record(z.string(), z.union([scalar, z.array(scalar)])).optional(),
    deliver: z.array(z.string()).optional(),
    maxPerHour: z.int().positive().optional(),
    profile: z.string().optional(),
    cwd: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    permissions: z.strictObject({ allow: rules, deny: rules }).optional(),
    budget: budgetSettings.optional(),
  })
  .refine(({ signature, header }) => header === undefined || signature === 'hmac', {
    path: ['header'],
    message: 'is for signature: hmac',
  })
  .refine(({ task, workflow }) => (task === undefined) !== (workflow === undefined), {
    path: ['task'],
    message: 'give a task, or a workflow in its place',
  })
  .refine(({ key, workflow }) => key === undefined || workflow === undefined, {
    path: ['key'],
    message: 'is for a task: each delivery starts a run of the workflow',
  })
  .refine(({ args, workflow }) => args === undefined || workflow !== undefined, {
    path: ['args'],
    message: 'are for a workflow',
  });

export type HookConfig = z.infer<typeof hookConfig>;
