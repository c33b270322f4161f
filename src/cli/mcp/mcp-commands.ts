import type { CommandBuilder } from '../start/command-builder.ts';
import { collect, ruleOptions, seconds } from '../start/option-values.ts';

/** Default of `--max-wait`: many clients time out after a minute. */
const MAX_WAIT_SECONDS = 45;

/** `coppice mcp …` */
export function addMcpCommands({ sub, imported }: CommandBuilder): void {
  const mcp = sub(
    'mcp',
    'Serve an MCP client on standard input and output; MCP servers that agents use: list, test, add, login',
  )
    .option(
      '--as <name>',
      'name of the agent that stands for the client; default: the name that the client gives',
    )
    .option('--max-wait <seconds>', 'maximum time that a call of the client waits', seconds, MAX_WAIT_SECONDS)
    .option('--toolset <name>', 'toolset by which agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'configure the agents by a named profile; see coppice profiles');
  ruleOptions(mcp);
  mcp.action(
    imported(async () => (await import('./mcp-serve.ts')).mcpServe, { creates_ledger: true, local: true }),
  );
  sub('list', 'List the MCP servers of the configuration and of this folder', mcp).action(
    imported(async () => (await import('./mcp-list.ts')).mcpList, { local: true }),
  );
  sub('test', 'Start MCP servers and list their tools', mcp)
    .argument('[names...]', 'default: all that may be used')
    .action(imported(async () => (await import('./mcp-test.ts')).mcpTest, { local: true }));
  sub('login', 'Log in to an MCP server in a browser', mcp)
    .argument('<name>', 'its name')
    .option('--forget', 'forget the login instead')
    .action(imported(async () => (await import('./mcp-login.ts')).mcpLogin, { local: true }));
  sub('add', 'Add an MCP server to the configuration', mcp)
    .argument('<name>', 'its name, with which the names of its tools begin')
    .argument('[command...]', 'after --: the program and its arguments')
    .option('--url <url>', 'the address of a server instead of a program')
    .option('--env <name=value>', 'a variable for the program (repeatable)', collect, [])
    .option(
      '--env-allow <name>',
      'a variable of your environment that the program sees (repeatable)',
      collect,
      [],
    )
    .option(
      '--header-env <header=variable>',
      'a header whose value is in a variable of your environment (repeatable)',
      collect,
      [],
    )
    .option(
      '--host <host>',
      'a host that the program may reach, as in sandbox.hosts (repeatable)',
      collect,
      [],
    )
    .option('--writable <path>', 'a folder or file that the program may write (repeatable)', collect, [])
    .option('--sandbox <mode>', 'off: run the program without a sandbox, with all your rights')
    .option('--untried', 'add the program without trying it')
    .action(imported(async () => (await import('./mcp-add.ts')).mcpAdd, { local: true }));
}
