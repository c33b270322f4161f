import type { ChannelLog } from '../../channels/channel.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { decoded } from '../../records/text/text.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { TreeTimelines } from '../../serve/timeline/tree-timelines.ts';
import { TraceExporter } from '../../serve/traces/trace-exporter.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';

const PATH = '/v1/traces';

/** Starts the exporter of traces of `coppice serve`; null if no collector is named. Throws `E_CONFIG`. */
export function startTraces(
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
