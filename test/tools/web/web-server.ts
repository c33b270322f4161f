import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export interface WebServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Requested paths, in order. */
  readonly asked: string[];
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback, closed after the test; unknown paths get 404. A text that begins with `<` is sent as HTML, any other as plain text. */
export async function webServer(routes: Readonly<Record<string, Answering | string>>): Promise<WebServer> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const route = routes[path] ?? routes[path.split('?', 1)[0] ?? ''];
    if (route === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
    else if (typeof route === 'function') route(request, response);
    else
      response
        .writeHead(200, { 'content-type': `text/${route.startsWith('<') ? 'html' : 'plain'}; charset=utf-8` })
        .end(route);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, asked };
}
