import type { OrderEnd, ProcessOrder } from './process-order.ts';

/** Messages to the process that starts programs. `id`: that of the call. */
export type ToLauncher =
  | { readonly type: 'run'; readonly id: number; readonly order: ProcessOrder }
  | { readonly type: 'go' | 'abort'; readonly id: number };

export type FromLauncher =
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly id: number; readonly leader: number }
  | { readonly type: 'output' | 'error' | 'sandbox'; readonly id: number; readonly chunk: Buffer }
  /** An error is sent as its message and code, because its other properties are lost between processes. */
  | { readonly type: 'not_started'; readonly id: number; readonly message: string; readonly code?: string }
  | { readonly type: 'ended'; readonly id: number; readonly end: Exclude<OrderEnd, { end: 'not_started' }> };
