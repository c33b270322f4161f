const opened = new Set<() => Promise<void>>();

/** To be closed by `closeOpened`; what a test closes before is closed twice. */
export function closeLater(close: () => Promise<void>): void {
  opened.add(close);
}

/** For `afterEach`: closes what the test has opened, whatever its outcome, the newest first. */
export async function closeOpened(): Promise<void> {
  const all = [...opened].toReversed();
  opened.clear();
  for (const close of all) await close();
}
