export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ConfinedProgram extends Program {
  /** Descriptors from 3 on. */
  readonly stdio: readonly (number | 'ignore' | 'pipe')[];
  /** Must be called with what `forwardSandboxReport` reports: the program may be waiting for `go`. */
  told(chunk: Buffer, go: () => void): void;
  /** In-memory file systems of this program alone. */
  readonly memory: readonly string[];
  /** Paths that the sandbox depends on: it holds only as long as nobody replaces them. */
  readonly standing: readonly string[];
  /**
   * Process group of the program itself, to be signalled instead of bubblewrap's, whose end would end the program without a grace period; undefined until
   * known.
   */
  leader(): number | undefined;
  /** Must be called when the child has ended, or could not be started. Returns sentences about what was set aside. */
  close(): string[];
}
