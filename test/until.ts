/** How long `until` waits at least: less than a test may take, so that it can say what did not come. */
const UNTIL_MS = Math.min(60_000, 0.75 * (Number(process.env.COPPICE_TEST_BLOCKED_MS) || 80_000));

/** Resolves when `test` holds, polled often; rejects after `UNTIL_MS` at the earliest. */
export async function until(test: () => boolean | Promise<boolean>, what = `${test}`): Promise<void> {
  // The pause between polls grows, so that long waits cost little.
  for (let waited_ms = 0, pause_ms = 3; waited_ms < UNTIL_MS; waited_ms += pause_ms) {
    if (await test()) return;
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
    pause_ms = Math.min(50, pause_ms * 1.2);
  }
  throw new Error(`it never came to this: ${what}`);
}
