import type { ComponentChildren } from 'preact';
import { EXPORTED } from '../data/exported.ts';
import type { IconName } from '../parts/icon.tsx';
import type { PageContext } from '../parts/page.ts';
import { SeldomPage } from '../parts/seldom-page.tsx';
import { AgentView } from './agent/agent.tsx';
import { ApprovalsView } from './approvals.tsx';
import { ExportedView } from './exported.tsx';
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
        <SeldomPage key={`${tree} live`} name="cockpit" context={context} />
      ) : (
        <TreeView key={tree} {...context} />
      );
    },
  },
  {
    key: 'f',
    path: 'workflows',
    title: 'Workflows',
    icon: 'workflows',
    view: (context) => <SeldomPage key="workflows" name="workflows" context={context} />,
  },
  {
    key: 'a',
    path: 'approvals',
    title: 'Approvals',
    icon: 'approvals',
    view: (context) =>
      context.route.path[1] === 'rules' ? (
        <SeldomPage key="rules" name="rules" context={context} />
      ) : (
        <ApprovalsView {...context} />
      ),
  },
  {
    key: 's',
    path: 'schedules',
    title: 'Schedules',
    icon: 'schedules',
    view: (context) => <SeldomPage key="schedules" name="schedules" context={context} />,
  },
  {
    key: 'd',
    path: 'deliveries',
    title: 'Deliveries',
    icon: 'deliveries',
    view: (context) => <SeldomPage key="deliveries" name="deliveries" context={context} />,
  },
  {
    key: 'w',
    path: 'workers',
    title: 'Workers',
    icon: 'workers',
    view: (context) => <SeldomPage key="workers" name="workers" context={context} />,
  },
  {
    key: '/',
    path: 'search',
    title: 'Search',
    icon: 'search',
    view: (context) => <SeldomPage key="search" name="search" context={context} />,
  },
  {
    key: 'u',
    path: 'usage',
    title: 'Usage',
    icon: 'usage',
    view: (context) => <SeldomPage key="usage" name="usage" context={context} />,
  },
  {
    path: 'compare',
    title: 'Compare',
    icon: 'trees',
    view: (context) => <SeldomPage key="compare" name="compare" context={context} />,
  },
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
    : [
        {
          key: 't',
          path: 'trees',
          title: 'Tree',
          icon: 'trees',
          view: (context) =>
            context.route.path[1] === undefined ? <ExportedView {...context} /> : <TreeView {...context} />,
        },
        ...LIVE.filter(({ path }) => path === 'agents'),
      ];
