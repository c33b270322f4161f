import { useSending } from '../data/api.ts';
import { go } from '../data/route.ts';
import { Field, type Fields, FormDialog } from '../parts/dialog.tsx';

/** Form that starts a tree and opens its root. */
export function StartTree({ onClose }: { readonly onClose: () => void }) {
  const sending = useSending();
  const start = async (field: Fields) => {
    const entered = await sending.send<{ readonly id: string }>('POST', '/v1/trees', {
      prompt: field('prompt'),
      profile: field('profile'),
      model: field('model'),
      cwd: field('cwd'),
    });
    if (entered === null) return;
    onClose();
    go(`/agents/${entered.id}`);
  };
  return (
    <FormDialog title="Start a tree" does="Start" onClose={onClose} sending={sending} onSubmit={start}>
      <Field name="prompt" label="Task" lines={5} required first />
      <Field name="profile" label="Profile" hint="Empty: as configured" />
      <Field name="model" label="Model" hint="provider/model; empty: as configured" />
      <Field name="cwd" label="Folder" hint="On the machine of the server; empty: where it was started" />
    </FormDialog>
  );
}
