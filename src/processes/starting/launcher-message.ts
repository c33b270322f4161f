import type { OrderEnd, ProcessOrder } from './process-order.ts';

/** To the process that starts programs. `id`: of the call. */
export type ToLauncher =
  | { readonly type: 'run'; readonly id: number; readonly order: ProcessOrder }
  | { readonly type: 'go' | 'abort'; readonly id: number };

export type FromLauncher =
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly id: number; readonly leader: number }
  | { readonly type: 'output' | 'error' | 'walls'; readonly id: number; readonly chunk: Buffer }
  /** What an error carries beside its text does not pass between processes. */
  | { readonly type: 'not_started'; readonly id: number; readonly message: string; readonly code?: string }
  | { readonly type: 'ended'; readonly id: number; readonly end: Exclude<OrderEnd, { end: 'not_started' }> };
