import { isIP } from 'node:net';
import type { AllowedHosts } from '../../processes/hosts/allowed-hosts.ts';
import { isPrivate } from '../../processes/hosts/private-addresses.ts';

/** Tells the model why an address is refused. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
}

/** Ports below this one are for mail, files, shells and the like. */
const FIRST_FREE_PORT = 1024;

/**
 * Normalizes a web address, so that rules are matched against what is requested. Throws RefusedAddressError for a text that is no address, for protocols other
 * than http and https, for names and passwords in it, and for a missing host.
 */
export function webAddress(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null)
    throw new RefusedAddressError(`"${text.slice(0, 200)}" is not an address: write https://…`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RefusedAddressError(
      `addresses that begin with ${url.protocol} are not read: only http: and https:`,
    );
  if (url.username !== '' || url.password !== '')
    throw new RefusedAddressError(
      'an address with a user name or password in it is not read: leave them out',
    );
  url.hostname = url.hostname.replace(/\.$/, '');
  if (url.hostname === '' || url.hostname.endsWith('.'))
    throw new RefusedAddressError('the address has no host');
  url.hash = '';
  return url;
}

export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** The host without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Why an address is refused regardless of what its name resolves to; null if it is not. `known`: hosts that may be private. */
export function placeFault(url: URL, known: AllowedHosts): string | null {
  const host = hostOf(url);
  const port = portOf(url);
  if (known.names({ host, port })) return null;
  if (port < FIRST_FREE_PORT && port !== 80 && port !== 443)
    return `port ${port} is not one of web pages (a person can name ${url.host} in web.private_hosts)`;
  const local = host === 'localhost' || host.endsWith('.localhost');
  return local || (isIP(host) !== 0 && isPrivate(host)) ? privateFault(url) : null;
}

export function privateFault(url: URL): string {
  return `${url.hostname} is this machine or in a private network, which is refused (a person can name it in web.private_hosts)`;
}
