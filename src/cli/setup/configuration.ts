import * as z from 'zod';
import { TIMEOUT_SECONDS_MAX } from '../../records/text/parse-duration.ts';
import { hookConfig } from '../../serve/hooks/hook-config.ts';
import { settings } from '../../settings/settings.ts';
import { keysConfig } from '../../tui/keys/keys-config.ts';
import { THEMES } from '../../tui/text/themes.ts';
import { channelsConfig } from './channels-config.ts';

const serverConfig = z.strictObject({
  /** `HOST:PORT` or `PORT`. */
  listen: z.string().optional(),
  /** Further exact values of `Host` that the server accepts, for example behind a proxy. */
  hosts: z.array(z.string()).optional(),
  /** Paths of PEM files. */
  tls: z.strictObject({ cert: z.string(), key: z.string() }).optional(),
  /** Whether conversations may be searched (docs/search.md); the first search builds an index in the ledger. */
  search: z.boolean().optional(),
  /** Collector that spans are sent to (docs/operations.md). */
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

/** Appearance of the terminal UI (docs/tui.md). */
const tuiConfig = z.strictObject({
  /** Colours: by default the terminal's own unless they are hard to read; `light` and `dark` are for a terminal that does not report its background. */
  theme: z.enum(THEMES).optional(),
  /** Whether addresses are links (OSC 8); by default if the terminal is known to support them. */
  links: z.boolean().optional(),
  /** Whether you are notified while the terminal does not have the focus. */
  notifications: z.boolean().optional(),
  /** Whether the title of the terminal says what is going on. */
  title: z.boolean().optional(),
  /** Whether drafts are edited with the commands of vim. */
  vim: z.boolean().optional(),
  /** Values that the navigation line shows. */
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

/** The settings that the library takes, too, and those of the command line only. */
export const configuration = settings.extend({
  /** Path of docs/config.schema.json for editors; not read here. */
  $schema: z.string().optional(),
  /** Channels by which results reach people, and people write to agents (docs/channels.md). */
  channels: channelsConfig.optional(),
  /** Webhooks that other programs send to (docs/webhooks.md). */
  hooks: z
    .record(z.string().regex(/^[\w.-]+$/, 'letters, digits, ".", "_" and "-" only'), hookConfig)
    .optional(),
  /** The HTTP interface of `coppice serve` (docs/http-api.md). */
  server: serverConfig.optional(),
  /** Alerts that people are sent (docs/operations.md). */
  alerts: z.array(alertConfig).optional(),
  /** Names of files with instructions for agents: in each folder the first that exists is read (docs/instructions.md). */
  instructions: z.strictObject({ files: z.array(fileName).max(10).optional() }).optional(),
  /** Paths of skill folders within each folder of a project. */
  skills: z.strictObject({ folders: z.array(z.string().min(1)).max(10).optional() }).optional(),
  /** Settings of `coppice merge` (docs/worktrees.md). */
  merge: z
    .strictObject({
      test: z.string().min(1).optional(),
      timeout_seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).optional(),
    })
    .optional(),
  tui: tuiConfig.optional(),
  /** Keys of the terminal UI by action: `{ "agents": ["ctrl+x a"] }`. */
  keys: keysConfig.optional(),
});

export type Configuration = z.infer<typeof configuration>;
