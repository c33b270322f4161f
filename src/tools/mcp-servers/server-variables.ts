import { childEnvironment } from '../../processes/child-environment.ts';
import { given } from '../../records/text/json-fields.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { McpError } from './mcp-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A server definition from a project, with `${NAME}` and `${NAME:-default}` replaced, as other programs do. Keys of model providers are never inserted. */
export function expandedConfig(config: McpServerConfig, env: Environment): McpServerConfig {
  const expand = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (whole, name: string, otherwise: string | undefined) => {
      return childEnvironment([name], env)[name] ?? otherwise ?? whole;
    });
  const all = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value)]));
  const { command, args, env: set, url, headers } = config;
  return {
    ...config,
    ...given({
      command: command && expand(command),
      args: args?.map(expand),
      env: set && all(set),
      url: url && expand(url),
      headers: headers && all(headers),
    }),
  };
}

/** Returns the headers of every request, including those from the environment. Throws an `McpError` if a variable is not set. */
export function requestHeaders(config: McpServerConfig, env: Environment): Record<string, string> {
  const from_env = Object.entries(config.headersEnv ?? {}).map(([header, variable]) => {
    const value = env[variable];
    if (value === undefined || value === '')
      throw new McpError(`cannot be used: the variable ${variable} for its header ${header} is not set`);
    return [header, value] as const;
  });
  return { ...config.headers, ...Object.fromEntries(from_env) };
}
