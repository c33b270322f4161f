import type { ApprovalDocument } from '../../src/documents/shapes/document-parts.ts';
import type { ApiError } from '../data/api.ts';
import type { Route } from '../data/route.ts';

/** Context that the shell passes to every page. */
export interface PageContext {
  readonly route: Route;
  /** Whether this session may change things. */
  readonly writes: boolean;
  readonly approvals: {
    readonly data: readonly ApprovalDocument[] | null;
    readonly error: ApiError | null;
    readonly reload: () => void;
  };
}
