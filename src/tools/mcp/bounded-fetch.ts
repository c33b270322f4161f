/** A message or an event is read at once, which holds the process: a longer one would hold it too long. */
const LINE_BYTES = 16 * 1024 * 1024;
/** More in so long a time is a flood. */
const FLOOD = { bytes: 256 * 1024 * 1024, within_ms: 10_000 };
const LINE_BREAK = 0x0a;

/** `fetch`, whose answers end with an error where a line, or what comes in a short time, exceeds the bounds. */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(bounded());
  const same = new Response(body, { status, statusText, headers });
  // The protocol library resolves addresses against it.
  Object.defineProperty(same, 'url', { value: response.url });
  return same;
}

function bounded(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let line = 0;
  let [since, bytes] = [performance.now(), 0];
  return new TransformStream({
    transform(chunk, controller) {
      const last = chunk.lastIndexOf(LINE_BREAK);
      line = last === -1 ? line + chunk.length : chunk.length - last - 1;
      bytes += chunk.length;
      if (bytes > FLOOD.bytes && performance.now() - since >= FLOOD.within_ms)
        [since, bytes] = [performance.now(), 0];
      if (line > LINE_BYTES || bytes > FLOOD.bytes)
        controller.error(new Error('the server sent more than anybody can read'));
      else controller.enqueue(chunk);
    },
  });
}
