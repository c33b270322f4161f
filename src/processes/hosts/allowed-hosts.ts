import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPrivate } from './private-addresses.ts';

export interface Destination {
  readonly host: string;
  readonly port: number;
}

interface Pattern extends Destination {
  /** Whether it matches the subdomains of `host` instead of `host` itself (`*.example.com`); with an empty `host`, every name (`*`). */
  readonly below: boolean;
}

/** The hosts that sandboxed programs may reach: `example.com`, `*.example.com`, `*`, or an address, each with an optional `:PORT` (default: any port). */
export class AllowedHosts {
  readonly #patterns: readonly Pattern[];

  readonly #lookup: (name: string) => Promise<readonly string[]>;

  constructor(patterns: readonly string[], addresses = addressesOf) {
    this.#patterns = patterns.map(patternOf);
    this.#lookup = addresses;
  }

  /**
   * Returns the address to connect to; null if the destination is not allowed, or resolves only to private addresses that are not themselves listed. Rejects
   * if the name cannot be resolved.
   */
  async resolve({ host, port }: Destination): Promise<string | null> {
    const name = plainHost(host);
    if (!this.#patterns.some((pattern) => matches(pattern, name, port))) return null;
    if (this.#isNamed(name, port)) return name === 'localhost' ? '127.0.0.1' : name;
    const found = isIP(name) === 0 ? await this.#lookup(name) : [name];
    return found.find((address) => !isPrivate(address) || this.#isNamed(address, port)) ?? null;
  }

  /** Whether a pattern matches this destination, even if it is private. */
  names({ host, port }: Destination): boolean {
    const name = plainHost(host);
    return this.#patterns.some((pattern) => matches(pattern, name, port));
  }

  /** Whether this address, or `localhost`, is itself listed, which allows it even if it is private. */
  #isNamed(name: string, port: number): boolean {
    return (
      (isIP(name) !== 0 || name === 'localhost') &&
      this.#patterns.some((pattern) => !pattern.below && matches(pattern, name, port))
    );
  }
}

async function addressesOf(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function patternOf(text: string): Pattern {
  const [, host = text, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(text) ?? [];
  const below = host === '*' || host.startsWith('*.');
  return { host: plainHost(below ? host.slice(2) : host), port: Number(port ?? 0), below };
}

function matches(pattern: Pattern, name: string, port: number): boolean {
  if (pattern.port !== 0 && pattern.port !== port) return false;
  return pattern.below ? pattern.host === '' || name.endsWith(`.${pattern.host}`) : name === pattern.host;
}

function plainHost(host: string): string {
  const bare = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  // `URL` normalizes the spelling of IPv6 addresses.
  return isIP(bare) === 6 ? new URL(`http://[${bare}]`).hostname.slice(1, -1) : bare;
}
