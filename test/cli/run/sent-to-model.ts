import assert from 'node:assert/strict';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { Home } from '../run-cli.ts';

/** At most this much is sent to the root of each vocabulary. */
export const AIMS: Readonly<Record<string, number>> = {
  process: 1_400,
  fanout: 1_250,
  sessions: 1_550,
  delegate: 1_150,
  slash: 700,
};

/** A tool as a chat server gets it. */
export interface SentTool {
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: { readonly properties: Readonly<Record<string, object>> };
  };
}

export interface SentRequest {
  readonly system: string;
  readonly tools: readonly SentTool[];
  /** System text and tools together, characters / 4. */
  readonly tokens: number;
}

/** Runs `coppice run` with the usual settings and returns what its model is sent: one entry per request, the fork's after its parent's. */
export async function sentToModel(
  home: Home,
  toolset: string,
  {
    configuration = {},
    flags = [],
    answers = [],
    onRequest,
  }: {
    readonly configuration?: object;
    readonly flags?: readonly string[];
    /** Calls of the first answers; later answers end the turn. */
    readonly answers?: readonly { readonly name: string; readonly input: object }[][];
    readonly onRequest?: () => void;
  } = {},
): Promise<readonly SentRequest[]> {
  const sent: SentRequest[] = [];
  const server = await startOpenAiChatServer({
    record: false,
    answer({ body, index, system }) {
      const tools = body.tools as readonly SentTool[];
      const tokens = Math.ceil((system.length + JSON.stringify(tools).length) / 4);
      sent.push({ system, tools, tokens });
      onRequest?.();
      const calls = answers[index];
      return calls === undefined ? { text: 'done' } : { calls };
    },
  });
  try {
    home.configure({
      model: 'local/m',
      providers: {
        local: { type: 'openai-compatible', baseURL: `${server.url}/v1`, apiKeyEnv: 'LOCAL_KEY' },
      },
      ...configuration,
    });
    const { code, stderr } = await home.run(['run', '--toolset', toolset, ...flags, 'hello'], {
      env: { LOCAL_KEY: 'k', COPPICE_SANDBOX: 'workspace' },
    });
    assert.equal(code, 0, stderr);
    return sent;
  } finally {
    await server.close();
  }
}
