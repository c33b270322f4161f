import { type IncomingMessage, request } from 'node:http';
import type { EventDocument } from '../../../src/documents/shapes/event-documents.ts';
import { until } from '../../until.ts';
import type { WebStage } from '../http/web-stage.ts';

/** A client of the event stream. */
export interface Follower {
  readonly status: number;
  readonly events: EventDocument[];
  readonly ids: string[];
  readonly response: IncomingMessage;
  readonly has_ended: boolean;
  /** Returns the received events of that type. */
  of(type: EventDocument['type']): EventDocument[];
  leave(): void;
}

/** Follows `/v1/events` over its own connection. */
export function follow(web: WebStage, query = '', last_event_id = ''): Promise<Follower> {
  const more = last_event_id === '' ? {} : { 'last-event-id': last_event_id };
  return followUrl(`${web.url}/v1/events${query}`, { authorization: `Bearer ${web.token('read')}`, ...more });
}

/** Like `follow`, but waits for the first event. */
export async function followNew(web: WebStage, query = '', last_event_id = ''): Promise<Follower> {
  const follower = await follow(web, query, last_event_id);
  await until(() => follower.events.length > 0, 'the stream begins');
  return follower;
}

function followUrl(url: string, headers: Readonly<Record<string, string>>): Promise<Follower> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (response) => {
      const events: EventDocument[] = [];
      const ids: string[] = [];
      let ended = false;
      const follower: Follower = {
        status: response.statusCode ?? 0,
        events,
        ids,
        response,
        get has_ended() {
          return ended;
        },
        of: (type) => events.filter((event) => event.type === type),
        leave: () => asked.destroy(),
      };
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const id = /^id: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (id !== undefined) ids.push(id);
          if (data !== undefined) events.push(JSON.parse(data) as EventDocument);
        }
      });
      response
        .on('error', () => undefined)
        .on('close', () => {
          ended = true;
        });
      resolve(follower);
    });
    asked.on('error', reject).end();
  });
}
