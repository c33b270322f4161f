import { setImmediate as soon } from 'node:timers/promises';
import {
  type AgentConnection,
  type AnyMessage,
  agent,
  type ClientCapabilities,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { FrameGuard } from '../processes/output/frame-guard.ts';
import { MESSAGE_BYTES } from '../processes/output/json-meter.ts';
import type { AcpOptions } from './acp-options.ts';
import { EditorSessions } from './editor-sessions.ts';
import { protocolError } from './protocol-error.ts';
import { UpdateQueue } from './updates/update-queue.ts';

export interface EditorStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

export interface ServedEditor {
  /** Resolves when the editor has closed the connection, or can no longer be written to. Never rejects. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Serves an editor over the Agent Client Protocol, as its agent (docs/editors.md). */
export function serveEditor(options: AcpOptions, { input, output }: EditorStreams): ServedEditor {
  let capabilities: ClientCapabilities = {};
  const queue = new UpdateQueue(
    (sessionId, update) => connection.client.notify(methods.client.session.update, { sessionId, update }),
    () => connection.close(new Error('the editor does not read what it is sent')),
  );
  const sessions = new EditorSessions(options, {
    update: (sessionId, update) => queue.push(sessionId, update),
    request: async (params, signal) => {
      await queue.flushed();
      return connection.client.request(methods.client.session.requestPermission, params, {
        cancellationSignal: signal,
        stopWaitingOnCancel: true,
      });
    },
    notices: () => capabilities.session?.notices != null,
  });
  /** Sends an answer after the updates that belong to it; converts failures to errors of the protocol. */
  const answered = async <Answer>(work: () => Answer | Promise<Answer>): Promise<Answer> => {
    try {
      return await work();
    } catch (error) {
      throw protocolError(error);
    } finally {
      await queue.flushed();
    }
  };
  const { session } = methods.agent;
  const guard = new FrameGuard();
  const { readable, writable } = ndJsonStream(output, input.pipeThrough(guard.transform), {
    maxMessageBytes: MESSAGE_BYTES + 2,
  });
  const stream = { readable: readable.pipeThrough(inOrder()), writable };
  const connection: AgentConnection = agent({ name: 'coppice' })
    .onRequest(session.prompt, ({ params, signal }) =>
      answered(() => {
        const prompted = sessions.get(params.sessionId);
        // The prompt request itself may be cancelled, too. A lost connection cancels nothing: unfinished work waits in the ledger.
        const stop = () => {
          if (!connection.signal.aborted) prompted.cancel();
        };
        signal.addEventListener('abort', stop, { once: true });
        return prompted.prompt(params.prompt);
      }),
    )
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return introduction(options.version, capabilities);
    })
    .onRequest(session.new, ({ params }) => answered(() => sessions.begin(params.cwd, params.mcpServers)))
    .onRequest(session.load, ({ params }) =>
      answered(() => sessions.load(params.sessionId, true, params.mcpServers)),
    )
    .onRequest(session.resume, ({ params }) =>
      answered(() => sessions.load(params.sessionId, false, params.mcpServers ?? [])),
    )
    .onRequest(session.list, ({ params }) =>
      answered(() => sessions.list(params.cwd ?? null, params.cursor ?? null)),
    )
    .onRequest(session.close, ({ params }) =>
      answered(() => sessions.close(params.sessionId).then(() => ({}))),
    )
    .onRequest(session.setMode, ({ params }) =>
      answered(() =>
        sessions
          .get(params.sessionId)
          .setMode(params.modeId)
          .then(() => ({})),
      ),
    )
    .onRequest(session.setConfigOption, ({ params }) =>
      answered(async () => ({
        configOptions: await sessions.get(params.sessionId).setOption(params.configId, params.value),
      })),
    )
    .onNotification(session.cancel, ({ params }) => sessions.get(params.sessionId).cancel())
    .connect(stream);
  void connection.closed.then(() => sessions.end());
  return { closed: connection.closed, close: () => connection.close() };
}

/** Handlers begin some turns of the queue after their message: prompts and cancels that come close behind each other would overtake one another. */
function inOrder(): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    async transform(message, controller) {
      controller.enqueue(message);
      if ('method' in message && /^session\/(prompt|cancel)$/.test(message.method)) await soon();
    },
  });
}

function introduction(version: string, { auth }: ClientCapabilities) {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'coppice', title: 'Coppice', version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    },
    authMethods:
      auth?.terminal === true
        ? [
            {
              type: 'terminal' as const,
              id: 'setup',
              name: 'Connect a model',
              description: 'Asks for a key, or looks for local models, in a terminal',
              args: ['--setup'],
            },
          ]
        : [],
  };
}
