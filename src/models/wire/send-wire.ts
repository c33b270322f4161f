import type { RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import { APICallError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { unpacked } from '../../processes/hosts/unpacked.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { fieldsOf, itemsOf, wordOf } from '../../records/text/json-fields.ts';
import { type JsonObject, jsonIn, parsedObject } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import {
  bodyFault,
  ConnectionError,
  EVENT_MAX,
  foreignAnswer,
  type HttpCall,
  headersOf,
  JSON_TYPE,
  readBody,
  sendHttp,
  typeOf,
  UnusableAnswer,
} from '../provider/http-fetch.ts';
import type { Reach } from '../provider/provider-model.ts';
import { saidIn, saidInBody } from '../refusals/said-in.ts';
import { RefusedInStream, takeError } from './stream-error.ts';
import type { WireReader } from './wire-protocol.ts';

/** How long a finished answer may stay open: after its last event, for what may follow, and after its end, for the server to close it. */
const CLOSING_MS = 5_000;
const CLOSE_MS = 1_000;
/** How often it is looked whether anything new has come, within the time in which something must. */
const LOOKS = 10;
/** Fields of whole answers that no event has: Messages, Responses. */
const UNSTREAMED = ['content', 'output'];
/** Of all: Chat Completions and Gemini, too. */
const WHOLE = [...UNSTREAMED, 'choices', 'candidates'];

/**
 * Sends a request over keep-alive `node:http` connections and decodes the events of its answer. Rejects with an `APICallError` if the server refuses it, also
 * if it says so at the start of the stream or with status 200.
 */
export async function sendWire(
  { url, address }: { readonly url: string; readonly address: RequestOptions },
  call: HttpCall & Pick<Reach, 'standstill_ms'>,
  reader: WireReader,
  collector: AnswerCollector,
): Promise<void> {
  await sendHttp(address, call, async (answer) => {
    const status = answer.statusCode ?? 0;
    const refusal = (message: string, statusCode: number, responseBody: string) =>
      new APICallError({
        ...{ message, statusCode, responseBody, url },
        requestBodyValues: JSON.parse(call.body.join('')),
        responseHeaders: Object.fromEntries(headersOf(answer)),
      });
    const foreign = foreignAnswer(answer, url);
    const body = unpacked(answer);
    try {
      if (foreign !== null) {
        const text = typeOf(answer) === JSON_TYPE ? await readBody(body) : '';
        answer.destroy();
        const whole = parsedObject(text);
        if (whole !== null) return takeWhole(whole, reader, collector, foreign);
        // Some servers give events the type of what they hold.
        if (!/^(?:data|event):/m.test(text)) throw foreign;
        return await read(Readable.from([text]), reader, collector);
      }
      if (status < 200 || status >= 300) {
        const text = await readBody(body);
        throw refusal(saidInBody(text) ?? answer.statusMessage ?? '', status, text);
      }
      const still = watchStandstill(collector, call.standstill_ms, address, (fault) => {
        answer.destroy(fault);
        body.destroy(fault);
      });
      await read(body, reader, collector).finally(() => clearInterval(still));
    } catch (error) {
      if (!(error instanceof RefusedInStream)) throw error;
      throw refusal(error.message, error.status, error.body);
    }
  });
}

/** Ends an answer in which nothing new has come for this long, whatever signs of life the server sends (docs/decisions/0073-signs-of-life.md). */
function watchStandstill(
  collector: AnswerCollector,
  standstill_ms: number,
  { host }: RequestOptions,
  end: (fault: ConnectionError) => void,
): NodeJS.Timeout {
  // Looks count, not the clock: a process that was stopped for an hour has missed nothing.
  let [parts, looks] = [collector.parts, 0];
  return setInterval(() => {
    looks = collector.parts === parts ? looks + 1 : 0;
    parts = collector.parts;
    if (looks < LOOKS) return;
    const what = `only signs of life from ${host} for ${Math.round(standstill_ms / 1000)} s, and nothing of the answer`;
    end(new ConnectionError('idle', what));
  }, standstill_ms / LOOKS);
}

/** Reads to the end of the answer or the first error; never leaves a partially read answer on the connection. */
function read(answer: Readable, reader: WireReader, collector: AnswerCollector): Promise<void> {
  return new Promise((resolve, reject) => {
    let [over, done, heard] = [false, false, false];
    let timer: NodeJS.Timeout | undefined;
    const lines = new EventLines((data, name) => {
      heard = true;
      if (over || collector.error !== null) return;
      if (data.trim() === '[DONE]') over = done = true;
      else
        try {
          const event = fieldsOf(eventOf(data));
          if (!collector.named) collector.add(nameOf(event));
          if (name === '' && reader.whole !== undefined && isWhole(event, UNSTREAMED)) reader.whole(event);
          else reader.event(event, name);
        } catch (error) {
          // Nothing that follows the end can cost the answer.
          if (reader.closing !== true) throw error;
        }
    });
    /** Ends the answer; a server that keeps it open loses the connection. */
    const end = () => {
      over = true;
      clearTimeout(timer);
      try {
        if (collector.error === null) reader.end(done);
        resolve();
      } catch (error) {
        reject(error);
      }
      if (!answer.readableEnded) timer = setTimeout(() => answer.destroy(), CLOSE_MS).unref();
    };
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      if (over) return;
      try {
        lines.push(text);
        if (collector.error === null) {
          if (over || collector.finished) end();
          // Comments are no sign that more will come.
          else if (heard) {
            clearTimeout(timer);
            timer = reader.closing ? setTimeout(end, CLOSING_MS) : undefined;
          }
          heard = false;
          return;
        }
        resolve();
      } catch (error) {
        reject(error);
      }
      over = true;
      answer.destroy();
    });
    answer.on('end', () => {
      if (over) return;
      try {
        lines.end();
      } catch (error) {
        if (error instanceof RefusedInStream) return reject(error);
        // The answer broke off within an event.
      }
      end();
    });
    answer.on('error', (error) => reject(bodyFault(error)));
    answer.on('close', () => clearTimeout(timer));
  });
}

/** An event that is no JSON was damaged on its way. Not bounded like arguments of calls: an event may be large, and only known fields of it are read. */
function eventOf(data: string): unknown {
  const value = jsonIn(data);
  if (value === undefined) throw new Error(`an event is no JSON: ${cutText(data, 80)}`);
  return value;
}

/** What the answer is called and which model gave it; each protocol says it in another place. */
function nameOf(event: JsonObject): LanguageModelV4StreamPart {
  const from = fieldsOf(event.message ?? event.response ?? event);
  const [id, modelId] = [wordOf(from.id ?? from.responseId), wordOf(from.model ?? from.modelVersion)];
  return { type: 'response-metadata', ...{ id, modelId } } as LanguageModelV4StreamPart;
}

function isWhole(body: JsonObject, fields = WHOLE): boolean {
  return fields.some((field) => itemsOf(body[field]).length > 0);
}

/** Takes an answer as JSON, which is no stream: an error, or a whole answer of a server that does not stream. */
function takeWhole(body: JsonObject, reader: WireReader, collector: AnswerCollector, foreign: Error): void {
  if (isWhole(body)) {
    collector.add(nameOf(body));
    if (reader.whole !== undefined) return reader.whole(body);
    reader.event(body, '');
    reader.end(true);
  } else if (saidIn(body) !== null) takeError(body, collector);
  else throw foreign;
}

/**
 * Decodes server-sent events from chunks of any size, in lines that end with CR, LF or CR LF. A byte order mark, blank data and a missing empty line at the
 * end cost no event, and a line that is an object of JSON is one: some servers send nothing else. Throws `UnusableAnswer` for a huge one.
 */
export class EventLines {
  readonly #parser: EventSourceParser;
  /** The last character so far. */
  #last = '';

  /** `name`: what the field `event` says; empty without one. */
  constructor(onEvent: (data: string, name: string) => void) {
    this.#parser = createParser({
      maxBufferSize: EVENT_MAX,
      onEvent: ({ data, event = '' }) => {
        if (data.trim() !== '') onEvent(data, event.trim());
      },
      onError: ({ type, line }) => {
        if (type === 'unknown-field' && line?.startsWith('{') === true) onEvent(line, '');
        if (type === 'max-buffer-size-exceeded')
          throw new UnusableAnswer(`an event of the answer exceeds ${EVENT_MAX} characters`);
      },
    });
  }

  push(chunk: string): void {
    // A byte order mark at the beginning, or the other half of a line end, for which nothing waits.
    const skips = this.#last === '' ? chunk.startsWith('\u{feff}') : this.#last === '\r' && chunk[0] === '\n';
    const own = skips ? chunk.slice(1) : chunk;
    this.#last = chunk.at(-1) ?? this.#last;
    this.#parser.feed(own.includes('\r') ? own.replaceAll(/\r\n?/g, '\n') : own);
  }

  /** The stream has ended: so has its last event. */
  end(): void {
    this.push('\n\n');
  }
}
