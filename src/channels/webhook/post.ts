import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { proxyOptions } from '../../processes/hosts/proxies.ts';

const READ_MAX = 64 * 1024;

export type Posted =
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly retry_after: string | undefined;
      /** The beginning of the body, up to 64 KB or to where the connection broke. */
      readonly text: string;
    }
  /** No answer. `reason` is a code such as `ECONNREFUSED`. */
  | { readonly type: 'broken'; readonly reason: string };

/**
 * One POST over a connection of its own; follows no redirect. When the signal aborts, an answer that has begun still counts. Never rejects; throws for
 * invalid headers.
 */
export function post(
  url: URL,
  headers: Readonly<Record<string, string | number>>,
  body: Buffer,
  signal: AbortSignal,
): Promise<Posted> {
  const [begin, Agent] = url.protocol === 'https:' ? [httpsRequest, HttpsAgent] : [httpRequest, HttpAgent];
  const options = { method: 'POST', headers: { ...headers, 'content-length': body.length }, signal };
  // No keep-alive: the receiver may have closed a kept connection, and deliveries are rare.
  const request = begin(url, { ...options, agent: new Agent(proxyOptions()) });
  return new Promise((resolve) => {
    let answered = false;
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (!answered) resolve({ type: 'broken', reason: error.code ?? error.name });
    });
    request.on('response', (answer) => {
      answered = true;
      const { statusCode: status = 0, headers: told } = answer;
      void beginning(answer).then(({ text, whole }) => {
        resolve({ type: 'answer', status, retry_after: told['retry-after'], text });
        // Receivers may answer before they have read the whole request: after a complete answer, sending continues until the signal aborts.
        if (!whole) request.destroy();
      });
    });
    request.end(body);
  });
}

function beginning(answer: IncomingMessage): Promise<{ readonly text: string; readonly whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const end = (whole: boolean) => resolve({ text: Buffer.concat(chunks).toString('utf8'), whole });
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, READ_MAX - size));
      size += chunk.length;
      if (size >= READ_MAX) {
        answer.pause();
        end(false);
      }
    });
    answer.on('end', () => end(true));
    answer.on('error', () => end(false));
    answer.on('close', () => end(false));
  });
}
