/** Pages that are not the first ones that a person opens: one script of their own, which the first one loads when one of them is asked for. */

import { CompareView } from './views/compare.tsx';
import { DeliveriesView } from './views/deliveries.tsx';
import { GrantedRules } from './views/granted-rules.tsx';
import { PhoneView } from './views/phone.tsx';
import { SchedulesView } from './views/schedules/schedules.tsx';
import { SearchView } from './views/search.tsx';
import { Cockpit } from './views/tree/live/cockpit.tsx';
import { UsageView } from './views/usage.tsx';
import { WorkersView } from './views/workers.tsx';
import { WorkflowsView } from './views/workflows/workflows.tsx';

export const seldom = {
  cockpit: Cockpit,
  compare: CompareView,
  deliveries: DeliveriesView,
  phone: PhoneView,
  rules: GrantedRules,
  schedules: SchedulesView,
  search: SearchView,
  usage: UsageView,
  workers: WorkersView,
  workflows: WorkflowsView,
} as const;
