/** A client that uses the protocol's official library, and the real `coppice acp` process that it starts, as editors do. */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  type InitializeResponse,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Home } from '../cli/run-cli.ts';
import { closeLater } from '../close-opened.ts';
import { MAIN } from '../house/program.ts';
import { until } from '../until.ts';

export interface Asked {
  readonly params: RequestPermissionRequest;
  /** Aborted when the agent withdraws the question. */
  readonly signal: AbortSignal;
  choose(optionId: string): void;
  dismiss(): void;
}

export interface Editor {
  readonly child: ChildProcess;
  readonly agent: ClientConnection['agent'];
  readonly introduction: InitializeResponse;
  /** All updates, oldest first. */
  readonly updates: { readonly sessionId: string; readonly update: SessionUpdate }[];
  readonly asked: Asked[];
  /** Text that the process wrote to standard error. */
  readonly told: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Updates of one kind in one session. */
  of<Kind extends SessionUpdate['sessionUpdate']>(
    sessionId: string,
    kind: Kind,
  ): Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  /** Concatenated text of all chunks of one kind. */
  text(sessionId: string, kind: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'): string;
  /** Waits for the next question that has not been taken yet. */
  nextAsked(): Promise<Asked>;
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<string>;
}

export function writeRules(home: Home, rules: readonly object[]): string {
  const file = join(home.folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ rules }));
  return `scripted:${file}`;
}

export function startAgent(home: Home, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'acp', ...args], {
    cwd: home.work,
    env: home.env,
    stdio: 'pipe',
  });
  closeLater(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.stdin?.end();
      child.kill();
      await new Promise((resolve) => child.once('close', resolve));
    }
  });
  return child;
}

export async function openEditor(
  home: Home,
  args: readonly string[],
  clientCapabilities: ClientCapabilities = {},
): Promise<Editor> {
  const child = startAgent(home, args);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  const updates: Editor['updates'] = [];
  const asked: Asked[] = [];
  let taken = 0;
  const connection = client({ name: 'test' })
    .onRequest('session/request_permission', ({ params, signal }) => {
      const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
      const choose = (optionId: string) => resolve({ outcome: { outcome: 'selected', optionId } });
      const dismiss = () => resolve({ outcome: { outcome: 'cancelled' } });
      signal.addEventListener('abort', dismiss, { once: true });
      asked.push({ params, signal, choose, dismiss });
      return promise;
    })
    .onNotification('session/update', ({ params: { sessionId, update } }) => {
      updates.push({ sessionId, update });
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin as Writable),
        Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>,
      ),
    );
  const { agent } = connection;
  const introduction = await agent.request('initialize', { protocolVersion: 1, clientCapabilities });
  const editor: Editor = {
    child,
    agent,
    introduction,
    updates,
    asked,
    told: () => stderr,
    ended,
    of: (sessionId, kind) =>
      updates.flatMap(({ sessionId: id, update }) =>
        id === sessionId && update.sessionUpdate === kind ? [update as never] : [],
      ),
    text: (sessionId, kind) =>
      editor
        .of(sessionId, kind)
        .map(({ content }) => (content.type === 'text' ? content.text : `[${content.type}]`))
        .join(''),
    nextAsked: async () => {
      await until(() => asked.length > taken);
      taken += 1;
      return asked[taken - 1] as Asked;
    },
    begin: async () => (await agent.request('session/new', { cwd: home.work, mcpServers: [] })).sessionId,
    say: async (sessionId, text) =>
      (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
  };
  return editor;
}
