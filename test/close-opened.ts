const opened = new Set<() => Promise<void>>();

/** Registers a callback for `closeOpened`, which calls it even if the test has closed the resource itself. */
export function closeLater(close: () => Promise<void>): void {
  opened.add(close);
}

/** For `afterEach`: closes everything that the test opened, newest first, whatever the outcome. */
export async function closeOpened(): Promise<void> {
  const all = [...opened].toReversed();
  opened.clear();
  for (const close of all) await close();
}
