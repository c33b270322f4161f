import * as z from 'zod';
import { settings, TIMEOUT_SECONDS_MAX } from '../../settings/settings.ts';
import { keysConfig } from '../../tui/keys/key-bindings.ts';
import { THEMES } from '../../tui/text/themes.ts';
import { channelsConfig } from './channels-config.ts';

/** The HTTP interface of `coppice serve`. */
const serverConfig = z.strictObject({
  /** `HOST:PORT` or `PORT`. */
  listen: z.string().optional(),
  /** Further exact values of `Host` that it answers to, as behind a proxy. */
  hosts: z.array(z.string()).optional(),
  /** Files in PEM. */
  tls: z.strictObject({ cert: z.string(), key: z.string() }).optional(),
  /** Where spans are sent (docs/operations.md). */
  traces: z
    .strictObject({
      endpoint: z.url({ protocol: /^https?$/ }).optional(),
      headersEnv: z.string().optional(),
      contents: z.boolean().optional(),
    })
    .optional(),
});

const alertConfig = z
  .strictObject({
    when: z.enum(['tree-failed', 'waits-for-person', 'cost', 'worker-gone']),
    after_minutes: z.number().nonnegative().optional(),
    usd: z.number().positive().optional(),
    to: z.array(z.string()).min(1),
  })
  .refine(({ when, usd }) => (when === 'cost') === (usd !== undefined), {
    path: ['usd'],
    message: 'is for when: cost, which needs it',
  })
  .refine(({ when, after_minutes }) => when === 'waits-for-person' || after_minutes === undefined, {
    path: ['after_minutes'],
    message: 'is for when: waits-for-person',
  });

/** How the terminal UI looks (docs/tui.md). */
const tuiConfig = z.strictObject({
  /** Its colours: the terminal's own unless they are hard to read; `light` and `dark` are for a terminal that does not tell its background. */
  theme: z.enum(THEMES).optional(),
  /** Whether addresses are links (OSC 8); by default where the terminal is known to have them. */
  links: z.boolean().optional(),
  /** A command that fills the last line: a JSON document on its standard input, a line on its output. */
  statusLine: z.strictObject({ command: z.string().min(1) }).optional(),
  /** A command that is run when people are called: a JSON document on its standard input, on its output what the terminal is to say. */
  notify: z.strictObject({ command: z.string().min(1) }).optional(),
  /** What the navigation line shows. */
  meters: z
    .strictObject({
      context: z.boolean().optional(),
      tokens: z.boolean().optional(),
      cost: z.boolean().optional(),
      elapsed: z.boolean().optional(),
      budget: z.boolean().optional(),
    })
    .optional(),
});

const fileName = z.string().regex(/^(?!\.{1,2}$)[^/\\\0]+$/, 'must be the name of a file, without a folder');

/** The settings, which the library takes too, and what only the command line has. */
export const configuration = settings.extend({
  /** Names docs/config.schema.json for editors; nothing reads it. */
  $schema: z.string().optional(),
  /** How results reach people, and how people write to agents (docs/channels.md). */
  channels: channelsConfig.optional(),
  /** The HTTP interface of `coppice serve` (docs/http-api.md). */
  server: serverConfig.optional(),
  /** What people are told of (docs/operations.md). */
  alerts: z.array(alertConfig).optional(),
  /** Files with instructions for agents: of each folder the first of these names (docs/instructions.md). */
  instructions: z.strictObject({ files: z.array(fileName).max(10).optional() }).optional(),
  /** Folders of skills, in each folder of a project. */
  skills: z.strictObject({ folders: z.array(z.string().min(1)).max(10).optional() }).optional(),
  /** `coppice merge` (docs/worktrees.md). */
  merge: z
    .strictObject({
      test: z.string().min(1).optional(),
      timeout_seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).optional(),
    })
    .optional(),
  /** The terminal UI. */
  tui: tuiConfig.optional(),
  /** Keys of the terminal UI by action: `{ "agents": ["ctrl+x a"] }`. */
  keys: keysConfig.optional(),
});

export type Configuration = z.infer<typeof configuration>;
