/** Pages, tabs and dialogs that a person does not see first: one script of their own, which the first one loads when one of them is asked for. */

import { PromptView } from './views/agent/prompt.tsx';
import { CompareView } from './views/compare.tsx';
import { DeliveriesView } from './views/deliveries.tsx';
import { GrantedRules } from './views/granted-rules.tsx';
import { GoBack } from './views/past/go-back.tsx';
import { WhatIf, WhatIfResults } from './views/past/what-if.tsx';
import { PhoneView } from './views/phone.tsx';
import { SchedulesView } from './views/schedules/schedules.tsx';
import { SearchView } from './views/search.tsx';
import { FilesView } from './views/tree/files.tsx';
import { Cockpit } from './views/tree/live/cockpit.tsx';
import { MailDiagram } from './views/tree/mail-diagram.tsx';
import { UsageView } from './views/usage.tsx';
import { WorkersView } from './views/workers.tsx';
import { WorkflowsView } from './views/workflows/workflows.tsx';

export const seldom = {
  cockpit: Cockpit,
  compare: CompareView,
  deliveries: DeliveriesView,
  files: FilesView,
  'go-back': GoBack,
  mail: MailDiagram,
  phone: PhoneView,
  prompt: PromptView,
  rules: GrantedRules,
  schedules: SchedulesView,
  search: SearchView,
  usage: UsageView,
  'what-if': WhatIf,
  'what-if-results': WhatIfResults,
  workers: WorkersView,
  workflows: WorkflowsView,
} as const;
