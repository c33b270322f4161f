import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import type { ApiError } from '../data/api.ts';
import type { Route } from '../data/route.ts';

export type ListedApproval = DocumentOf<'coppice/approvals/v1'>['approvals'][number];

/** Context that the shell passes to every page. */
export interface PageContext {
  readonly route: Route;
  /** Whether this session may change things. */
  readonly writes: boolean;
  readonly approvals: {
    readonly data: readonly ListedApproval[] | null;
    /** How many are open, those that are not listed included. */
    readonly open: number;
    readonly error: ApiError | null;
    readonly reload: () => void;
  };
}
