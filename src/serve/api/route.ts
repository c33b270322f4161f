import { z } from 'zod';
import type { CronJobs } from '../../cron/manage-jobs.ts';
import { limits } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { ComposedRoot } from '../../mcp/mcp-options.ts';
import { meantPath } from '../../processes/working-folder.ts';
import type { Limits } from '../../records/agent/limits.ts';
import type { Profile } from '../../records/agent/profile.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { readPlace } from '../../records/text/list-place.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { MergeOrder } from '../../trees/answers/merge-branches.ts';
import type { ReadSources } from '../../trees/find-agent.ts';
import type { TreeTimelines } from '../../trees/timeline/tree-timelines.ts';
import type { TreeActivity } from '../../trees/usage/tree-activity.ts';
import type { UsageRollUp } from '../../trees/usage/usage-roll-up.ts';
import type { AgentPrompts } from './agent-prompts.ts';

/**
 * The HTTP API as a table of routes (docs/http-api.md). The server, its OpenAPI document and the typed client are made from it. Paths name agents as
 * commands do: by uuid, unique prefix, name or session key.
 */

export const NAME_MAX = 200;
export const words = z.array(z.string().min(1).max(1_000)).max(100);

export const textUpTo = (max: number) => z.string().max(max);
export const someText = (max: number) => textUpTo(max).min(1);

/** Settings of an agent that a request may give. */
export const rootSettings = {
  model: z.string().min(1).max(500).optional().describe('`provider/model`'),
  profile: z.string().min(1).max(NAME_MAX).optional().describe('profile of its agent'),
  cwd: z
    .string()
    .min(1)
    .max(4_096)
    .overwrite(meantPath)
    .optional()
    .describe('its folder on the machine that leads it'),
  thinking: z.enum(['off', 'low', 'medium', 'high']).optional().describe('how much its agent reasons'),
  toolset: words.optional().describe('how its agent works with others'),
  allow: words.optional().describe('rules that allow'),
  deny: words.optional().describe('rules that deny'),
};

/** Where results go. */
export const delivered = { deliver: words.optional().describe('targets that get its results') };

/** Settings of a tree that is started. */
export const startSettings = {
  ...rootSettings,
  ...delivered,
  label: words.optional().describe('labels that a worker needs to lead it'),
  anywhere: z.boolean().optional().describe('any machine may lead it, not only that of the server'),
  limits: limits.partial().optional().describe('limits of the tree; those left out are the configured ones'),
};

/** Requested settings of a new root agent. */
export interface RootRequest
  extends DeepReadonly<Omit<z.infer<z.ZodObject<typeof startSettings>>, 'limits'>> {
  readonly limits?: Partial<Limits> | undefined;
}

/** Sources that the handlers of routes work with. */
export interface ApiSources extends ReadSources {
  /** File with the rules that are granted permanently. */
  readonly rules_file: string;
  /** Rules for alerts of the configuration, as it was when this process started. */
  readonly alerts: Omit<DocumentOf<'coppice/alerts/v1'>, 'schema'>;
  readonly runtime: RuntimeFace;
  readonly jobs: CronJobs;
  readonly timelines: TreeTimelines;
  readonly usage: UsageRollUp;
  readonly activity: TreeActivity;
  readonly prompts: AgentPrompts;
  /** Whether conversations may be searched. */
  readonly searches: boolean;
  /** The test that is run after a merge. */
  readonly merge_test: Pick<MergeOrder, 'command' | 'timeout_seconds' | 'env'>;
  /** The default folder of agents. */
  readonly cwd: string;
  /** Completes the request from the server's configuration, as a command on that machine would. Rejects with a `CoppiceError`. */
  readonly compose: (request: RootRequest) => Promise<ComposedRoot>;
  /** Profiles that agents may name. */
  readonly profiles: () => Promise<ReadonlyMap<string, Profile>>;
  /** Called after a write that the server has to act on, such as a new tree, a fired job or retried deliveries. */
  readonly onEntered: () => void;
}

export interface ApiRequest<Query, Body> {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Uuid for what the request creates: derived from its `Idempotency-Key`, or new. */
  readonly id: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** Cached data read since this time (`performance.now()`) is fresh enough; default: now. */
  readonly as_of?: number;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** `read` changes nothing. */
export type Scope = 'read' | 'write';

export interface Terms {
  readonly method: Method;
  /** Path pattern, such as `/v1/agents/:agent/send`. */
  readonly path: string;
  readonly summary: string;
  readonly scope: Scope;
  /** Whether the route takes an `Idempotency-Key`. */
  readonly creates?: true;
  /** Name of the document that the route answers with. */
  readonly answer: string;
  /** For viewing only: refreshes may be delayed (`Refreshes`). */
  readonly watched?: true;
  /** Answers with server-sent events, each with one such document. */
  readonly stream?: true;
  /** Needs no token: requests are signed. */
  readonly signed?: true;
}

export interface Route extends Terms {
  readonly query: z.ZodObject;
  readonly body: z.ZodObject | null;
  /** Resolves to the document without its `schema`. */
  readonly handle: (sources: ApiSources, request: ApiRequest<never, never>) => Promise<object>;
}

const NOTHING = z.strictObject({});

type PlaceOf<Key> = Key extends `${infer M extends Method} ${infer P}`
  ? { readonly method: M; readonly path: P }
  : never;

/**
 * Defines a route, named as the client does, whose handler gets query and body with the types of their schemas; its own type has the literal types that
 * the typed client needs. A GET reads, and all else writes unless it says otherwise.
 */
export function route<
  const Key extends `${Method} /${string}`,
  const T extends Omit<Terms, 'method' | 'path' | 'scope'> & Partial<Pick<Terms, 'scope'>>,
  Query extends z.ZodObject = typeof NOTHING,
  Body extends z.ZodObject | null = null,
>({
  route: key,
  query = NOTHING as never,
  body = null as never,
  ...rest
}: T & {
  readonly route: Key;
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (
    sources: ApiSources,
    request: ApiRequest<z.output<Query>, Body extends z.ZodObject ? z.output<Body> : object>,
  ) => Promise<object>;
}) {
  const [method, path] = key.split(' ');
  const scope: Scope = method === 'GET' ? 'read' : 'write';
  return { method, path, scope, ...rest, query, body } as unknown as PlaceOf<Key> &
    Pick<T, keyof T & keyof Terms> &
    Pick<Route, 'handle' | 'watched' | 'scope'> & { readonly query: Query; readonly body: Body };
}

/** Value of a path parameter. Throws if the path has none of that name. */
export function named(request: ApiRequest<unknown, unknown>, name: string): string {
  const value = request.path[name];
  if (value === undefined) throw new Error(`the path has no :${name}`);
  return value;
}

/** Boolean query parameter: `true`, `1`, `false` or `0`. */
export const flag = z
  .enum(['true', 'false', '1', '0'])
  .transform((text) => text === 'true' || text === '1')
  .optional();

/** Query parameter: where the next page of a list begins that is newest first. */
export const before = z
  .string()
  .refine((text) => readPlace(text) !== null, 'is neither a time nor TIME,ID')
  .optional()
  .describe('below this row, `TIME,ID` of when it began and its id; or only a time: what began before');

/** Integer query parameter from 1 to `max`; default `usual`. */
export const countUpTo = (max: number, usual: number) =>
  z.coerce.number().int().min(1).max(max).default(usual);
