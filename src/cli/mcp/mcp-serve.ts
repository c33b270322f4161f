import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { McpService } from '../../mcp/serve-client.ts';
import { StdioLines } from '../../mcp/stdio-lines.ts';
import { workingFolder } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { placedRoot } from '../setup/api-sources.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { closeStore, endUnread, onGone, onStopSignal } from '../setup/end-process.ts';
import { EXIT } from '../start/exit-code.ts';

interface McpServeOptions {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly toolset: readonly string[];
  readonly profile?: string;
  readonly as?: string;
  /** Seconds. */
  readonly maxWait: number;
}

/** `coppice mcp`: offers agents to a program on standard input and output, until it closes its end (docs/mcp-server.md). */
export async function mcpServe(context: Context, options: McpServeOptions): Promise<number> {
  if (process.stdin.isTTY === true)
    throw new CoppiceError(
      'E_USAGE',
      'mcp is started by MCP clients, with pipes on standard input and output',
      {
        hint: 'See docs/mcp-server.md for how to name it in yours. Servers whose tools agents use: coppice mcp list',
      },
    );
  // Libraries may print: their output must not come between the protocol messages.
  console.log = console.error;
  const store = await context.openStore();
  const terms = composeTerms(context);
  const { allow, deny, toolset, profile } = options;
  const runtime = await composeRuntime(context, store, terms, { can_ask: true });
  let code: number = EXIT.done;
  try {
    const door = new McpService({
      version: context.version,
      store,
      runtime,
      terms,
      cwd: workingFolder(context.options.cwd ?? '.'),
      lasting: false,
      env: context.env,
      wait_ms: options.maxWait * 1_000,
      onEntered: () => undefined,
      compose: (wanted) =>
        placedRoot(context, store, async () => terms, {
          ...{ allow, deny, toolset },
          ...wanted,
          profile: wanted.profile ?? profile,
        }),
    });
    // A client that has gone away ends the connection, not the process.
    process.stdout.removeAllListeners('error');
    const transport = new StdioLines(process.stdin, process.stdout);
    const handle = serveStdio((request) => door.serverFor(request, options.as), { transport });
    onGone(store, () => void transport.close());
    const remove = onStopSignal((_, exit_code) => {
      code = exit_code;
      void transport.close();
    });
    await transport.closed;
    remove();
    await handle.close().catch(() => undefined);
    return code;
  } finally {
    await runtime.close();
    await closeStore(store).finally(endUnread);
  }
}
