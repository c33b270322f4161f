import type { McpServer } from '@agentclientprotocol/sdk';
import type { EditorFolder } from '../../acp/acp-options.ts';
import { configIn } from '../../permissions/mode.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { mcpServerConfig, serverNameFrom } from '../../tools/mcp-servers/mcp-config.ts';
import { modelChoices } from '../setup/choose-model.ts';
import { composeRoot, composeTerms, type RootOptions } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Configuration } from '../setup/configuration.ts';
import { type Context, reloaded } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';

/** Options of the command line that apply to every conversation. */
export type EditorRules = Pick<RootOptions, 'allow' | 'deny' | 'toolset' | 'profile'>;

export interface EditorPlaces {
  /** Opens one runtime for each folder, with the profiles and instructions of the folder. */
  readonly placeOf: (cwd: string) => Promise<EditorFolder>;
  readonly close: () => Promise<void>;
}

export function editorPlaces(context: Context, store: Store, rules: EditorRules): EditorPlaces {
  const places = new Map<string, Promise<EditorFolder>>();
  const opened: Promise<EditorFolder>[] = [];
  return {
    placeOf: async (cwd) => {
      const place =
        places.get(cwd) ?? openPlace({ ...context, options: { ...context.options, cwd } }, store, rules);
      if (!opened.includes(place)) opened.push(place);
      places.set(cwd, place);
      // A place without a model is not cached: another process may add one at any time, which makes the configuration that was read stale.
      if (!(await place.then(hasModel, () => false))) places.delete(cwd);
      return place;
    },
    close: async () => {
      const all = await Promise.allSettled(opened);
      await Promise.all(
        all.map((one) => (one.status === 'fulfilled' ? one.value.runtime.close() : undefined)),
      );
    },
  };
}

function hasModel(place: EditorFolder): boolean {
  try {
    place.draft();
    return true;
  } catch {
    return false;
  }
}

async function openPlace(given: Context, store: Store, rules: EditorRules): Promise<EditorFolder> {
  const fresh = await reloaded(given);
  const servers = new EditorServers(fresh.loaded.configuration.mcp);
  const configuration = { ...fresh.loaded.configuration, mcp: servers.mcp };
  const context = { ...fresh, loaded: { ...fresh.loaded, configuration } };
  const terms = composeTerms(context);
  const runtime = await composeRuntime(context, store, terms, { extra: demoModels(true), can_ask: true });
  return {
    runtime,
    draft: () => {
      const { model, thinking } = composeRoot(context, terms, rules).config;
      return { model, thinking, mode: 'ask' };
    },
    begin: ({ model, thinking, mode }) => {
      const { config, limits } = composeRoot(context, terms, { ...rules, model, thinking });
      return { config: configIn(mode, config), limits };
    },
    models: () => modelChoices(context, terms),
    bring: (named) => servers.bring(named),
  };
}

type Servers = NonNullable<NonNullable<Configuration['mcp']>['servers']>;

/**
 * The MCP servers of one folder: those of the configuration, and those that an editor names for its conversations. The latter are kept in memory
 * only, because editors put keys into them. `mcp` holds both.
 */
class EditorServers {
  readonly mcp: NonNullable<Configuration['mcp']>;
  readonly #servers: Servers;
  readonly #own: ReadonlySet<string>;

  constructor(mcp: Configuration['mcp']) {
    this.#servers = { ...mcp?.servers };
    this.#own = new Set(Object.keys(this.#servers));
    this.mcp = { ...mcp, servers: this.#servers };
  }

  /** Adds the servers that an editor names, replacing earlier ones of the same name. Returns a sentence for each that is left out. */
  bring(named: readonly McpServer[]): readonly string[] {
    const names = new Set<string>();
    return named.flatMap((server) => {
      const shown = clean(server.name);
      if ('type' in server && server.type === 'sse')
        return [`the MCP server ${shown} of the editor is left out: it speaks the old HTTP with SSE`];
      const name = serverNameFrom(server.name);
      if (name === null)
        return [`the MCP server ${shown} of the editor is left out: its name has no letters`];
      if (this.#own.has(name))
        return [`the MCP server ${shown} of the editor is left out: the configuration has one of this name`];
      if (names.has(name))
        return [
          `the MCP server ${shown} of the editor is left out: another server of the editor is already called ${name} here`,
        ];
      const config = mcpServerConfig.safeParse(configOf(server));
      if (!config.success)
        return [
          `the MCP server ${shown} of the editor is left out: ${clean(config.error.issues[0]?.message ?? 'it cannot be used')}`,
        ];
      names.add(name);
      this.#servers[name] = config.data;
      return [];
    });
  }
}

function configOf(server: Exclude<McpServer, { readonly type: 'sse' }>): Servers[string] {
  const record = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ('url' in server) return { url: server.url, headers: record(server.headers) };
  const { command, args, env } = server;
  return { command, args: [...args], env: record(env) };
}
