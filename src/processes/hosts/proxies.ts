/** Addresses of this machine, which no proxy reaches. */
const OWN = ['localhost', '127.0.0.1', '::1', '[::1]'];

/**
 * The proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case) as an option of the agents of `node:http` and `node:https`, for
 * every connection that leaves this machine (docs/configuration.md). Empty without proxies.
 */
export function proxyOptions(env: NodeJS.ProcessEnv = process.env): {
  readonly proxyEnv?: NodeJS.ProcessEnv;
} {
  const [http, https, none] = ['http_proxy', 'https_proxy', 'no_proxy'].map(
    (name) => (env[name] || env[name.toUpperCase()]) ?? '',
  );
  if (!http && !https) return {};
  const direct = [...(none ? [none] : []), ...OWN].join(',');
  return { proxyEnv: { http_proxy: http, https_proxy: https, no_proxy: direct } };
}

/** The proxy of the environment through which this address is reached; null for none. */
export async function proxyFor({ href, hostname }: URL): Promise<URL | null> {
  // @ts-expect-error: this package has no types.
  const { getProxyForUrl } = await import('proxy-from-env');
  const proxy = URL.parse(OWN.includes(hostname) || /^127\./.test(hostname) ? '' : getProxyForUrl(href));
  return proxy !== null && /^https?:$/.test(proxy.protocol) ? proxy : null;
}

/** Makes the global `fetch` use the proxies, where Node can do that while it runs (24.14 and later). Changes the whole process: not for a library. */
export async function proxyFetch(): Promise<void> {
  const { proxyEnv } = proxyOptions();
  if (proxyEnv === undefined) return;
  const { setGlobalProxyFromEnv } = await import('node:http');
  setGlobalProxyFromEnv?.(proxyEnv);
}
