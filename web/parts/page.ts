import type { ApprovalDocument } from '../../src/documents/shapes/document-parts.ts';
import type { ApiError } from '../data/api.ts';
import type { Route } from '../data/route.ts';

/** What the shell knows and every page may use. */
export interface PageContext {
  readonly route: Route;
  /** This session may change things. */
  readonly writes: boolean;
  readonly approvals: {
    readonly data: readonly ApprovalDocument[] | null;
    readonly error: ApiError | null;
    readonly reload: () => void;
  };
}
