import { type ClientApp, client, methods, RequestError } from '@agentclientprotocol/sdk';
import type { AcpSession } from './acp-session.ts';

/** The methods that agent programs call on us, each handed to its session. */
export function acpClient(sessions: ReadonlyMap<string, AcpSession>): ClientApp {
  const session = (id: string): AcpSession => {
    const found = sessions.get(id);
    if (found === undefined) throw RequestError.sessionNotFound(id);
    return found;
  };
  const { fs, session: asks, terminal } = methods.client;
  return client({ name: 'coppice' })
    .onRequest(asks.requestPermission, ({ params }) => session(params.sessionId).permission(params))
    .onRequest(fs.readTextFile, async ({ params: { sessionId, path, line, limit } }) => ({
      content: await session(sessionId).readFile(path, line ?? undefined, limit ?? undefined),
    }))
    .onRequest(fs.writeTextFile, ({ params }) =>
      session(params.sessionId).writeFile(params.path, params.content),
    )
    .onRequest(terminal.create, async ({ params }) => ({
      terminalId: await session(params.sessionId).createTerminal(params),
    }))
    .onRequest(terminal.output, ({ params }) => session(params.sessionId).terminalOutput(params.terminalId))
    .onRequest(terminal.waitForExit, ({ params }) =>
      session(params.sessionId).terminalExit(params.terminalId),
    )
    .onRequest(terminal.kill, ({ params }) => session(params.sessionId).killTerminal(params.terminalId))
    .onRequest(terminal.release, ({ params }) =>
      session(params.sessionId).releaseTerminal(params.terminalId),
    );
}
