/** Time as the outbox meets it; a test brings its own. */
export interface OutboxClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rings once after `ms`; what it returns ends that. */
  after(ms: number, ring: () => void): () => void;
}

export const SYSTEM_CLOCK: OutboxClock = {
  now: Date.now,
  after(ms, ring) {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
