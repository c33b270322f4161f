import * as z from 'zod';
import { settings } from '../../settings/settings.ts';
import { keysConfig } from '../../tui/keys/key-bindings.ts';
import { channelsConfig } from './channels-config.ts';

/** The settings, which the library takes too, and what only the command line has. */
export const configuration = settings.extend({
  /** Names docs/config.schema.json for editors; nothing reads it. */
  $schema: z.string().optional(),
  /** How results reach people, and how people write to agents (docs/channels.md). */
  channels: channelsConfig.optional(),
  /** Keys of the terminal UI by action: `{ "agents": ["ctrl+x a"] }`. */
  keys: keysConfig.optional(),
});

export type Configuration = z.infer<typeof configuration>;
