import { Field, type Fields, OrderDialog } from '../../parts/dialog.tsx';
import { say } from '../../parts/notice.tsx';

const KINDS = ['cron', 'every', 'at'] as const;

export interface AddScheduleProps {
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

/** Form for a new schedule with the most common settings; `coppice cron add` has all of them. */
export function AddSchedule({ onClose, onAdded }: AddScheduleProps) {
  const settings = (field: Fields) => {
    const kind = KINDS.find((one) => one === field('kind')) ?? 'cron';
    return {
      name: field('name'),
      task: field('task'),
      [kind]: field('when'),
      tz: kind === 'cron' ? field('tz') : undefined,
      deliver: field('deliver')?.split(/[\s,]+/),
      model: field('model'),
      profile: field('profile'),
      cwd: field('cwd'),
    };
  };
  const added = ({ name }: { readonly name: string }) => {
    say(`Scheduled ${name}`);
    onAdded();
  };
  return (
    <OrderDialog
      title="Add a schedule"
      does="Add"
      path="/v1/jobs"
      body={settings}
      onSent={added}
      onClose={onClose}
    >
      <Field name="name" label="Name" required first />
      <Field name="task" label="Task" lines={4} required />
      <div class="pair">
        <Field name="kind" label="Fires" options={KINDS} value="cron" />
        <Field
          name="when"
          label="When"
          required
          hint="cron: 0 7 * * 1-5 · every: 1h30m · at: +5m, or an ISO time"
        />
      </div>
      <div class="pair">
        <Field name="tz" label="Time zone" hint="Of a cron expression; empty: the server’s" />
        <Field name="deliver" label="Results go to" hint="Targets, such as telegram:42" />
      </div>
      <div class="pair">
        <Field name="profile" label="Profile" />
        <Field name="model" label="Model" />
      </div>
      <Field name="cwd" label="Folder" hint="On the machine of the server" />
    </OrderDialog>
  );
}
