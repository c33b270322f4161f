import type { ComponentChildren } from 'preact';
import { EXPORTED } from '../data/exported.ts';
import type { IconName } from '../parts/icon.tsx';
import type { PageContext } from '../parts/page.ts';
import { Seldom } from '../parts/seldom.tsx';
import { AgentView } from './agent/agent.tsx';
import { ApprovalsView } from './approvals.tsx';
import { TreeView } from './tree/tree.tsx';
import { TreesView } from './trees.tsx';

interface Page {
  /** Key that opens the page after `g`; a page without a key is reached by links. */
  readonly key?: string;
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly view: (context: PageContext) => ComponentChildren;
}

/** A page of the script that is loaded when it is first asked for. */
function seldom(
  key: string | null,
  path: 'workflows' | 'schedules' | 'deliveries' | 'workers' | 'search' | 'usage' | 'compare' | 'phone',
  title: string,
  icon: IconName,
): Page {
  const view: Page['view'] = (context) => <Seldom key={path} part={path} {...context} />;
  return { ...(key === null ? {} : { key }), path, title, icon, view };
}

const LIVE: readonly Page[] = [
  {
    key: 't',
    path: 'trees',
    title: 'Trees',
    icon: 'trees',
    view: (context) => {
      const [, tree, view] = context.route.path;
      if (tree === undefined) return <TreesView {...context} />;
      return view === 'live' ? (
        <Seldom key={`${tree} live`} part="cockpit" {...context} />
      ) : (
        <TreeView key={tree} {...context} />
      );
    },
  },
  seldom('f', 'workflows', 'Workflows', 'workflows'),
  {
    key: 'a',
    path: 'approvals',
    title: 'Approvals',
    icon: 'approvals',
    view: (context) =>
      context.route.path[1] === 'rules' ? (
        <Seldom key="rules" part="rules" {...context} />
      ) : (
        <ApprovalsView {...context} />
      ),
  },
  seldom('s', 'schedules', 'Schedules', 'schedules'),
  seldom('d', 'deliveries', 'Deliveries', 'deliveries'),
  seldom('w', 'workers', 'Workers', 'workers'),
  seldom('/', 'search', 'Search', 'search'),
  seldom('u', 'usage', 'Usage', 'usage'),
  seldom(null, 'compare', 'Compare', 'trees'),
  seldom(null, 'phone', 'On a phone', 'approvals'),
  {
    path: 'agents',
    title: 'Agent',
    icon: 'trees',
    view: (context) => <AgentView key={context.route.path[1]} {...context} />,
  },
];

/** All pages; an exported tree has only those of the tree and its agents. */
export const PAGES: readonly Page[] =
  EXPORTED === null
    ? LIVE
    : LIVE.filter(({ path }) => path === 'trees' || path === 'agents').map((page) =>
        page.path === 'trees' ? { ...page, title: 'Tree' } : page,
      );
