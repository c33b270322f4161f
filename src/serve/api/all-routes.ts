import { AGENT_ROUTES } from './agent-routes.ts';
import { JOB_ROUTES } from './job-routes.ts';
import { ORDER_ROUTES } from './order-routes.ts';
import { PEOPLE_ROUTES } from './people-routes.ts';
import type { Route } from './route.ts';
import { SEARCH_ROUTES } from './search-routes.ts';
import { TREE_ROUTES } from './tree-routes.ts';
import { USAGE_ROUTES } from './usage-routes.ts';
import { WORKFLOW_ROUTES } from './workflow-routes.ts';

/** The whole HTTP API. */
export const ROUTES = [
  ...TREE_ROUTES,
  ...AGENT_ROUTES,
  ...ORDER_ROUTES,
  ...PEOPLE_ROUTES,
  ...JOB_ROUTES,
  ...USAGE_ROUTES,
  ...SEARCH_ROUTES,
  ...WORKFLOW_ROUTES,
] as const satisfies readonly Route[];
