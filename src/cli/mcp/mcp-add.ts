import { CoppiceError } from '../../records/coppice-error.ts';
import { changeConfiguration } from '../../settings/change-configuration.ts';
import { checkSettings } from '../../settings/check-settings.ts';
import { mcpConfig } from '../../tools/mcp-servers/mcp-config.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { tryServer } from './try-server.ts';

interface AddOptions {
  readonly url?: string;
  readonly env: readonly string[];
  readonly envAllow: readonly string[];
  readonly headerEnv: readonly string[];
  readonly host: readonly string[];
  readonly writable: readonly string[];
  readonly sandbox?: 'off';
  readonly untried?: boolean;
}

/** `coppice mcp add NAME -- COMMAND…`, or `--url URL`: adds a server to the configuration; a program is tried first, so that what it needs is known. */
export async function mcpAdd(
  context: Context,
  name: string,
  command: readonly string[],
  { url, env, envAllow, headerEnv, host, writable, sandbox, untried = false }: AddOptions,
): Promise<number> {
  const [program, ...args] = command;
  if ((program === undefined) === (url === undefined))
    throw new CoppiceError('E_USAGE', 'give a program after --, or --url', {
      hint: `coppice mcp add ${name} -- npx -y some-server\ncoppice mcp add ${name} --url https://example.com/mcp`,
    });
  const written = {
    ...(program === undefined ? {} : { command: program }),
    ...(args.length === 0 ? {} : { args }),
    ...(url === undefined ? {} : { url }),
    ...(env.length === 0 ? {} : { env: pairs(env, '--env NAME=VALUE') }),
    ...(envAllow.length === 0 ? {} : { envAllow: [...envAllow] }),
    ...(headerEnv.length === 0 ? {} : { headersEnv: pairs(headerEnv, '--header-env HEADER=VARIABLE') }),
    ...(host.length === 0 ? {} : { hosts: [...host] }),
    ...(writable.length === 0 ? {} : { writable: [...writable] }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
  checkSettings(mcpConfig, { servers: { [name]: written } }, 'of the new server');
  const { mcp } = context.loaded.configuration;
  if (Object.hasOwn(mcp?.servers ?? {}, name))
    throw new CoppiceError('E_USAGE', `there is an MCP server called ${name} already`, {
      hint: `Choose another name, or change mcp.servers.${name} in ${context.loaded.file}`,
    });
  const is_tried = program !== undefined && !untried;
  const [entry, tested] = is_tried ? await tryServer(context, name, written) : [written, null];
  const file = changeConfiguration(context.options.config, context.env, (before) => {
    const known = (before.mcp ?? {}) as { readonly servers?: object };
    return { ...before, mcp: { ...known, servers: { ...known.servers, [name]: entry } } };
  });
  const next = tested === null ? '; try it' : `: ${tested.tools.length} tools; see them`;
  return printResult(context, { schema: 'coppice/mcp-server/v1', name, file }, () => [
    `added ${name} to ${file}${next}: ${context.hint(`coppice mcp test ${name}`)}`,
  ]);
}

function pairs(texts: readonly string[], form: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CoppiceError('E_USAGE', `"${text}": write ${form}`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
