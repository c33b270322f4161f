/** Addresses of this machine, which no proxy reaches. */
const OWN = ['localhost', '127.0.0.1', '::1', '[::1]'];

const PROXIES = ['https_proxy', 'http_proxy'];

/**
 * The proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case) as an option of the agents of `node:http` and `node:https`, for
 * every connection that leaves this machine (docs/configuration.md). Empty without proxies.
 */
export function proxyOptions(env: NodeJS.ProcessEnv = process.env): {
  readonly proxyEnv?: NodeJS.ProcessEnv;
} {
  const [https, http] = PROXIES.map((name) => proxyOf(env, name)?.href ?? '');
  if (!http && !https) return {};
  const none = setIn(env, 'no_proxy');
  const direct = [...(none ? [none] : []), ...OWN].join(',');
  return { proxyEnv: { http_proxy: http, https_proxy: https, no_proxy: direct } };
}

/** A proxy as curl, git and npm read it: `proxy:3128` is `http://proxy:3128`. Null for none, and for what no HTTP proxy has as its address (`socks5://…`). */
function proxyOf(env: NodeJS.ProcessEnv, name: string): URL | null {
  const said = setIn(env, name);
  const proxy = URL.parse(said === '' || said.includes('://') ? said : `http://${said}`);
  return proxy !== null && /^https?:$/.test(proxy.protocol) ? proxy : null;
}

function setIn(env: NodeJS.ProcessEnv, name: string): string {
  return (env[name] || env[name.toUpperCase()] || '').trim();
}

/** The variable of a proxy whose value is not the address of an HTTP proxy; null if there is none. */
export function unusedProxy(env: NodeJS.ProcessEnv = process.env): string | null {
  const unused = PROXIES.find((name) => setIn(env, name) !== '' && proxyOf(env, name) === null);
  return unused === undefined || env[unused] ? (unused ?? null) : unused.toUpperCase();
}

/** The host of the proxy of the environment to which a connection failed with this error, on the way to a host; null if it was none. */
export function failedProxy(
  error: unknown,
  host: string,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  const failed = [error, ...(Object(error).errors ?? [])].map((one) => Object(one));
  const isOf = ({ hostname, port }: URL) =>
    failed.some((one) => (port !== '' && port === String(one.port)) || hostname === one.hostname);
  const proxy = PROXIES.map((name) => proxyOf(env, name)).find((one) => one !== null && isOf(one));
  const is_direct = proxy && (host.endsWith(`:${proxy.port}`) || host.startsWith(proxy.hostname));
  return proxy && !is_direct ? proxy.host : null;
}

/** The proxy of the environment through which this address is reached; null for none. */
export async function proxyFor({ href, hostname, protocol }: URL): Promise<URL | null> {
  // @ts-expect-error: this package has no types.
  const { getProxyForUrl } = await import('proxy-from-env');
  if (OWN.includes(hostname) || /^127\./.test(hostname) || getProxyForUrl(href) === '') return null;
  const name = `${protocol.replace(':', '')}_proxy`;
  return proxyOf(process.env, setIn(process.env, name) === '' ? 'all_proxy' : name);
}

/** Makes the global `fetch` use the proxies, where Node can do that while it runs (24.14 and later). Changes the whole process: not for a library. */
export async function proxyFetch(): Promise<void> {
  const { proxyEnv } = proxyOptions();
  if (proxyEnv === undefined) return;
  const { setGlobalProxyFromEnv } = await import('node:http');
  setGlobalProxyFromEnv?.(proxyEnv);
}
