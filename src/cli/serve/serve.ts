import type { ChannelLog } from '../../channels/channel.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { CoppiceError, errorText } from '../../records/coppice-error.ts';
import { decoded } from '../../records/text/text.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { Alerts } from '../../serve/alerts/alerts.ts';
import { TraceExporter } from '../../serve/traces/trace-exporter.ts';
import type { Store } from '../../store/store.ts';
import { workerLabels } from '../../trees/leaders/placement.ts';
import { TreeTimelines } from '../../trees/timeline/tree-timelines.ts';
import { composeRoot, composeTerms } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Configuration } from '../setup/configuration.ts';
import type { Context } from '../setup/context.ts';
import { openChannels, targetProblem } from '../setup/open-channels.ts';
import type { LogOptions } from './log-options.ts';
import { closeLongRunning, mayAsk, openWithRetry, stopped, withoutRepeats } from './long-running.ts';
import { Server, type ServerOptions } from './server.ts';
import { serverLogOf } from './server-log.ts';
import { startWebServer } from './web-server.ts';

interface ServeOptions extends LogOptions {
  /** Seconds. */
  readonly drain: number;
  /** `HOST:PORT`, `PORT`, or `loopback`, which overrides the configuration; false for `--no-listen`, true or undefined if not given. */
  readonly listen?: string | boolean;
  readonly onListening?: () => Promise<void>;
}

/** `coppice serve`: runs until it is told to stop. */
export async function serve(context: Context, options: ServeOptions): Promise<number> {
  const { configuration, file } = context.loaded;
  const log = serverLogOf(context, options);
  const stop = stopped(log);
  // A reader that closes standard output ends that channel, not the server.
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  const channels = openChannels(configuration.channels ?? {}, context.env, log);
  checkAlerts(configuration);
  const terms = composeTerms(context);
  const session = sessions(context, terms);
  for (const { name } of channels.inbound) session(name);
  if (options.listen === false && configuration.hooks !== undefined)
    log('warn', 'no hook of the configuration gets anything: --no-listen');
  const labels = workerLabels([], context.env);
  const store = await openWithRetry(context, stop, log);
  if (store === null) return 0;
  const runtime = await composeRuntime(context, store, terms, {
    role: 'serve',
    labels,
    can_ask: mayAsk,
  });
  const giveUp = async (error: unknown): Promise<never> => {
    await runtime.close();
    await store.close();
    throw error;
  };
  // Checks configurations at the start, so that no first message of a chat fails because of its configuration.
  for (const { name } of channels.inbound) await runtime.checked(session(name).config).catch(giveUp);
  const drain_ms = options.drain * 1_000;
  const server = new Server({ store, runtime, channels, session, log, labels, drain_ms });
  const closeWeb =
    options.listen === false
      ? async () => undefined
      : await startWebServer(context, {
          store,
          runtime,
          terms,
          listen: typeof options.listen === 'string' ? options.listen : undefined,
          onEntered: () => server.wake(),
          log,
        }).catch(giveUp);
  server.start();
  const traces = startTraces(context, { store, runtime, log });
  const trouble = withoutRepeats(log);
  const alerts = new Alerts({
    store,
    worker_id: runtime.worker_id,
    holdsLease: () => runtime.holdsLease(),
    rules: configuration.alerts ?? [],
    onEntered: () => server.wake(),
    onTrouble: (error) => trouble('warn', `alerts wait for the ledger: ${errorText(error)}`),
  });
  alerts.start();
  log('info', 'coppice serves', {
    ledger: store.location,
    configuration: file,
    channels: channels.all.map(({ name }) => name),
    worker: runtime.worker_id,
    jobs: (await store.jobs()).filter(({ enabled }) => enabled).length,
  });
  await options.onListening?.().catch((error: unknown) => log('error', errorText(error)));
  await stop;
  await closeWeb();
  await traces?.stop();
  await server.stop();
  // Last, so that what happens while turns end is told of, too.
  await alerts.stop();
  await closeLongRunning(runtime, store, log);
  return 0;
}

/** Throws `E_CONFIG` for a target that cannot be delivered to, so that no alert is lost because its target is misspelt. */
function checkAlerts({ alerts = [], channels = {} }: Configuration): void {
  for (const target of alerts.flatMap(({ to }) => to)) {
    const problem = targetProblem(channels, target);
    if (problem !== null) throw new CoppiceError('E_CONFIG', `alerts: "${target}": ${problem}`);
  }
}

/** Returns the configuration of new sessions of a channel: the channel's own profile, model and folder, else the defaults. */
function sessions(context: Context, terms: ToolsetTerms): ServerOptions['session'] {
  const { telegram, slack } = context.loaded.configuration.channels ?? {};
  const by_channel: Readonly<Record<string, typeof telegram | typeof slack>> = { telegram, slack };
  return (channel) => {
    const { profile, model, cwd } = by_channel[channel] ?? {};
    return composeRoot(context, terms, { profile, model, cwd }, `channels.${channel}: `);
  };
}

const PATH = '/v1/traces';

/** Starts the exporter of traces of `coppice serve`; null if no collector is named. Throws `E_CONFIG`. */
function startTraces(
  context: Context,
  { store, runtime, log }: { readonly store: Store; readonly runtime: RuntimeFace; readonly log: ChannelLog },
): TraceExporter | null {
  const { env, loaded, version } = context;
  const { endpoint, headersEnv, contents = false } = loaded.configuration.server?.traces ?? {};
  const url = endpointOf(env, endpoint);
  if (url === null) return null;
  const variable = headersEnv ?? 'OTEL_EXPORTER_OTLP_HEADERS';
  const exporter = new TraceExporter({
    store,
    worker_id: runtime.worker_id,
    timelines: new TreeTimelines(store),
    endpoint: url,
    headers: headersOf(env[variable] ?? '', variable),
    contents,
    version,
    log,
  });
  exporter.start();
  // Logs the origin only, because the URL may contain a key.
  log('info', `sends traces to ${url.origin}`, { contents });
  return exporter;
}

function endpointOf(env: NodeJS.ProcessEnv, configured: string | undefined): URL | null {
  const whole = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '';
  const base = configured ?? (whole === '' ? (env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '') : whole);
  if (base === '') return null;
  const url = URL.parse(base);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CoppiceError('E_CONFIG', 'the address of the trace collector is not an http or https URL', {
      hint: 'Set server.traces.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT, such as http://127.0.0.1:4318',
    });
  if (base !== whole && !url.pathname.endsWith(PATH))
    url.pathname = `${url.pathname.replace(/\/$/, '')}${PATH}`;
  return url;
}

/** Parses `name=value,name=value`, percent-encoded, as OpenTelemetry writes headers in a variable. Throws `E_CONFIG`. */
function headersOf(text: string, variable: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
      if (at > 0 && /^[\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value))
        return [name.toLowerCase(), value];
      throw new CoppiceError('E_CONFIG', `${variable} does not contain valid headers`, {
        hint: 'Write name=value pairs, separated by commas',
      });
    }),
  );
}
