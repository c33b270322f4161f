import { childEnvironment } from '../../processes/child-environment.ts';
import type { McpServerConfig } from './mcp-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A definition from a project with `${NAME}` and `${NAME:-otherwise}` replaced, as other programs do. Keys of model providers are never put in. */
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
    ...(command === undefined ? {} : { command: expand(command) }),
    ...(args === undefined ? {} : { args: args.map(expand) }),
    ...(set === undefined ? {} : { env: all(set) }),
    ...(url === undefined ? {} : { url: expand(url) }),
    ...(headers === undefined ? {} : { headers: all(headers) }),
  };
}
