import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CoppiceError } from '../core/coppice-error.ts';
import { acpServerConfig } from '../models/acp/acp-config.ts';
import { providerConfig } from '../models/provider-config.ts';
import { didYouMean } from '../render/nearest-name.ts';
import { keysConfig } from '../tui/key-bindings.ts';
import { TIMEOUT_SECONDS_MAX } from './agent-file.ts';
import { channelsConfig } from './channels-config.ts';
import { configFile } from './folders.ts';

const rules = z.array(z.string());

const limits = z.strictObject({
  depth: z.int().min(0).optional(),
  children: z.int().min(0).optional(),
  live: z.int().min(1).optional(),
  total: z.int().min(1).optional(),
  turns: z.int().min(1).optional(),
  run_ms: z.int().min(1).optional(),
  tokens: z.int().min(1).nullable().optional(),
  cost_usd: z.number().positive().nullable().optional(),
});

const profile = z.strictObject({
  model: z.string().optional(),
  thinking: z.enum(['off', 'low', 'medium', 'high']).optional(),
  toolsets: z.array(z.string()).optional(),
  tools: z.array(z.string()).optional(),
  system: z.string().optional(),
  limits: limits.optional(),
  permissions: z
    .strictObject({ allow: rules.optional(), ask: rules.optional(), deny: rules.optional() })
    .optional(),
  subagents: z
    .strictObject({
      allowAgents: z.array(z.string()).optional(),
      model: z.string().optional(),
      maxConcurrent: z.int().positive().optional(),
    })
    .optional(),
});

/** What only an agent with a name of its own can have. */
const namedProfile = profile.extend({
  description: z.string().optional(),
  deny_tools: z.array(z.string()).optional(),
  turns: z.int().min(1).optional(),
  timeout_seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).optional(),
});

export type NamedProfile = z.infer<typeof namedProfile>;

const configuration = z.strictObject({
  model: z.string().optional(),
  database: z.string().optional(),
  /** Environment variables that tools may see beside the fixed allow-list. */
  env_allow: z.array(z.string()).optional(),
  providers: z.record(z.string(), providerConfig).optional(),
  /** Agent programs reached over ACP: models `acp:NAME`, and what `subagent_delegate` asks (docs/acp.md). */
  acp: z.record(z.string().regex(/^[\w.-]+$/), acpServerConfig).optional(),
  agents: z.object({ defaults: profile.optional() }).catchall(namedProfile).optional(),
  /** Isolated runs at work at once in one process; more are queued. */
  runs: z
    .strictObject({
      maxConcurrent: z.int().positive().optional(),
      perSource: z
        .strictObject({
          cron: z.int().positive().optional(),
          subagent: z.int().positive().optional(),
          delegate: z.int().positive().optional(),
        })
        .optional(),
    })
    .optional(),
  /** Where people are: results go there, and from some they write (docs/channels.md). */
  channels: channelsConfig.optional(),
  /** Keys of the terminal UI by action: `{ "agents": ["ctrl+x a"] }`. */
  keys: keysConfig.optional(),
});

export type Configuration = z.infer<typeof configuration>;

export interface LoadedConfiguration {
  /** Null when no file was there. */
  readonly file: string | null;
  readonly configuration: Configuration;
}

/**
 * Reads the user's own configuration: `--config`, `$COPPICE_CONFIG`, or the platform's folder. Never a file of the folder
 * that is worked in: a repository must not bring its own (SAFETY.md). Throws `E_CONFIG`.
 */
export function loadConfiguration(named: string | undefined, env: NodeJS.ProcessEnv): LoadedConfiguration {
  const { file, explicit } = configFile(named, env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!explicit && (error as NodeJS.ErrnoException).code === 'ENOENT')
      return { file: null, configuration: {} };
    throw new CoppiceError(
      'E_CONFIG',
      `the configuration ${file} cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return { file, configuration: checked(parse(text, file), file) };
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message;
    const position = faultPosition(text);
    const before = text.slice(0, position).split('\n');
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new CoppiceError('E_CONFIG', `${file} is not valid JSON at ${where}: ${message}`, { cause: error });
  }
}

/** Where the text stops being JSON: the end of the longest prefix that could still become some. */
function faultPosition(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldBecomeJson(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function couldBecomeJson(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return (
      /^Unexpected end|^Unterminated/.test(message) ||
      (position !== undefined && Number(position) >= prefix.length)
    );
  }
}

function checked(value: unknown, file: string): Configuration {
  const parsed = configuration.safeParse(value);
  if (parsed.success) return parsed.data;
  // A slip in a key comes with the complaint that the right one is missing: the slip is the cause.
  const issue =
    parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0];
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const full = path === '' ? key : `${path}.${key}`;
    const valid = validKeys(issue.path.map(String));
    throw new CoppiceError('E_CONFIG', `unknown key "${full}" in ${file}`, {
      hint: `${didYouMean(key, valid)}Valid here: ${valid.join(', ')}`,
    });
  }
  throw new CoppiceError(
    'E_CONFIG',
    `${path === '' ? 'the configuration' : path} in ${file}: ${issue?.message}`,
  );
}

/** The keys that are valid at a path of the configuration. */
function validKeys(path: readonly string[]): readonly string[] {
  let schema: z.ZodType = configuration;
  for (const step of path) schema = into(unwrapped(schema), step);
  const at = unwrapped(schema);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function into(schema: z.ZodType, step: string): z.ZodType {
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  if (schema instanceof z.ZodObject) {
    return (schema.shape[step] ?? schema.def.catchall ?? z.never()) as z.ZodType;
  }
  return schema;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;
}
