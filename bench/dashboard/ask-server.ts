import type { ServerProcess } from '../server-process.ts';

/** Sends a request to the HTTP API with the write token: POST with a body, otherwise GET. Rejects with the text of an error document. */
export async function askServer<Answer>(
  { url, token }: ServerProcess,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Answer;
}

/** Returns a link that signs one browser in. */
export async function signInLink(server: ServerProcess): Promise<string> {
  return (await askServer<{ readonly url: string }>(server, '/v1/login-links', {})).url;
}
