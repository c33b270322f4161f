import { availableParallelism } from 'node:os';

/** Limits on what tools put into a result, keep on disk, or use of the machine. Everything that a tool reads or starts is bounded by one of them. */
export const TOOL_LIMITS = {
  /** Bytes of a command's output kept from its beginning and from its end; together the maximum of a result. */
  head_bytes: 16 * 1024,
  tail_bytes: 16 * 1024,
  /** Bytes of one command's output kept in its spill file; the rest is counted and discarded. */
  spill_bytes: 64 * 1024 * 1024,
  /** Maximum bytes of the spill files of one tree, and of all trees; beyond that the oldest are removed. */
  spill_tree_bytes: 128 * 1024 * 1024,
  spill_total_bytes: 2 * 1024 * 1024 * 1024,
  /** Maximum bytes of live output per second. */
  live_bytes: 256 * 1024,
  /** Maximum length of the result of any other tool. */
  result_characters: 64 * 1024,

  /** Maximum child processes that one process runs at the same time; further ones wait, trees taking turns. */
  processes: Math.max(8, 4 * availableParallelism()),

  timeout_seconds: 120,
  timeout_max_seconds: 3600,
  /** Grace period between TERM and KILL: for a stopped command, and for processes that a command left behind. */
  stop_grace_ms: 1000,
  leftover_grace_ms: 200,
  /** How long to wait for output after the shell has ended: without a byte, and in total. */
  drain_idle_ms: 150,
  drain_total_ms: 2000,
  /** How long to wait for a tool that ignores its abort signal before it is abandoned. */
  abandon_ms: 5000,

  read_lines: 2000,
  read_bytes: 50 * 1024,
  line_characters: 2000,
  directory_entries: 1000,
  image_bytes: 20 * 1024 * 1024,
  write_bytes: 10 * 1024 * 1024,
  patch_bytes: 2 * 1024 * 1024,

  search_results: 200,
  search_results_max: 2000,
  search_seconds: 60,
  search_line_characters: 400,

  /** Maximum bytes of a page (decompressed) and of robots.txt; memory and time for converting the page in a worker thread. */
  web_bytes: 5 * 1024 * 1024,
  web_robots_bytes: 500 * 1024,
  web_memory_mb: 512,
  web_convert_seconds: 15,
  /** Timeout from the first connection to the last byte, redirects included. */
  web_seconds: 30,
  web_redirects: 5,
  web_header_bytes: 64 * 1024,
  /** Maximum characters of a page in one result. */
  web_characters: 24_000,
  web_search_results: 20,
} as const;
