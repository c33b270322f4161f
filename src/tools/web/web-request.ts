import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { AllowedHosts } from '../../processes/hosts/allowed-hosts.ts';
import { isPrivate } from '../../processes/hosts/private-addresses.ts';
import { proxyFor } from '../../processes/hosts/proxies.ts';
import { foreignEncoding, unpacked } from '../../processes/hosts/unpacked.ts';
import { hostOf, placeFault, portOf, privateFault, RefusedAddressError } from './web-address.ts';

const HEADER_BYTES = 64 * 1024;

/** Resolves names as the system does; tests inject their own. */
export type Lookup = (
  name: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface WebRequest {
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Hosts that may be private. */
  readonly known: AllowedHosts;
  readonly bytes_max: number;
  readonly lookup?: Lookup;
}

export interface WebAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingMessage['headers'];
  /** Decompressed. */
  readonly bytes: Buffer;
  /** Whether the body was longer than `bytes_max`. */
  readonly cut: boolean;
}

/**
 * Makes one request, without following redirects. It connects only to addresses that it has resolved and judged itself, so DNS rebinding gains nothing;
 * behind a proxy of the environment, the proxy resolves names. Bodies are decompressed and cut at `bytes_max`.
 * Throws RefusedAddressError and network errors.
 */
export async function webRequest(asked: WebRequest): Promise<WebAnswer> {
  const { url, known, lookup = systemLookup as Lookup } = asked;
  const fault = placeFault(url, known);
  if (fault !== null) throw new RefusedAddressError(fault);
  const proxy = await proxyFor(url);
  if (proxy !== null) await refuseKnownPrivate(url, known, lookup);
  const agent_options = {
    keepAlive: false,
    ...(proxy === null ? {} : { proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } }),
  };
  const secure = url.protocol === 'https:';
  const agent = secure ? new HttpsAgent(agent_options) : new HttpAgent(agent_options);
  const sent = (secure ? httpsRequest : httpRequest)(url, {
    agent,
    method: asked.method ?? 'GET',
    headers: { 'accept-encoding': 'gzip, deflate, br, zstd', ...asked.headers },
    maxHeaderSize: HEADER_BYTES,
    signal: asked.signal,
    ...(proxy === null ? { lookup: judged(url, known, lookup) } : {}),
  });
  try {
    return await answerOf(sent, asked);
  } finally {
    sent.destroy();
    agent.destroy();
  }
}

/** The lookup of the connection itself, which can connect only to the addresses returned here. */
function judged(url: URL, known: AllowedHosts, lookup: Lookup): LookupFunction {
  const named = known.names({ host: hostOf(url), port: portOf(url) });
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '');
      const open = found.filter(({ address }) => named || !isPrivate(address));
      const [first] = open;
      if (first === undefined) return callback(new RefusedAddressError(privateFault(url)), '');
      if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

/** With a proxy, a name that this machine resolves to a private address is refused; a name that it cannot resolve is left to the proxy. */
async function refuseKnownPrivate(url: URL, known: AllowedHosts, lookup: Lookup): Promise<void> {
  const host = hostOf(url);
  if (isIP(host) !== 0 || known.names({ host, port: portOf(url) })) return;
  const found = await new Promise<LookupAddress[]>((resolve) => {
    lookup(host, { all: true }, (error, addresses) => resolve(error === null ? addresses : []));
  });
  if (found.some(({ address }) => isPrivate(address))) throw new RefusedAddressError(privateFault(url));
}

async function answerOf(sent: ClientRequest, asked: WebRequest): Promise<WebAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.on('upgrade', () => reject(new Error('the server wanted another protocol')));
    sent.end(asked.body);
  });
  const { bytes, cut } = await bodyOf(answer, asked.bytes_max);
  const reason = answer.statusMessage ?? '';
  return { status: answer.statusCode ?? 0, reason, headers: answer.headers, bytes, cut };
}

async function bodyOf(answer: IncomingMessage, bytes_max: number): Promise<{ bytes: Buffer; cut: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  const encoding = foreignEncoding(answer);
  if (encoding !== null) throw new Error(`the server uses an unsupported content encoding (${encoding})`);
  for await (const part of unpacked(answer) as AsyncIterable<Buffer>) {
    length += part.length;
    parts.push(part);
    if (length > bytes_max) break;
  }
  return { bytes: Buffer.concat(parts).subarray(0, bytes_max), cut: length > bytes_max };
}
