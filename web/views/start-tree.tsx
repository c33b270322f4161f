import { go } from '../data/route.ts';
import { Field, type Fields, KnownField, OrderDialog } from '../parts/dialog.tsx';

interface StartProps {
  /** Trees that are known: their folders, models and profiles are offered. */
  readonly like: readonly { readonly model: string; readonly profile: string | null; readonly cwd: string }[];
  readonly onClose: () => void;
}

const TOOLSETS = ['', 'process', 'fanout', 'sessions', 'delegate', 'slash', 'workflow'];
const EFFORTS = ['', 'off', 'low', 'medium', 'high'];

/** Form that starts a tree and opens it. */
export function StartTree({ like, onClose }: StartProps) {
  const settings = (field: Fields) => {
    const [usd, toolset] = [field('usd'), field('toolset')];
    return {
      prompt: field('prompt'),
      profile: field('profile'),
      model: field('model'),
      cwd: field('cwd'),
      thinking: field('thinking'),
      ...(toolset === undefined ? {} : { toolset: [toolset] }),
      ...(field('allow') === undefined ? {} : { allow: field('allow')?.split(/\s*\n\s*/) }),
      ...(usd === undefined ? {} : { limits: { cost_usd: Number(usd) } }),
    };
  };
  const known = (field: 'model' | 'profile' | 'cwd') => [
    ...new Set(like.map((tree) => tree[field] ?? '').filter((one) => one !== '')),
  ];
  return (
    <OrderDialog<{ readonly id: string }>
      title="Start a tree"
      does="Start"
      path="/v1/trees"
      body={settings}
      onSent={({ id }) => go(`/trees/${id}`)}
      onClose={onClose}
    >
      <Field name="prompt" label="Task" lines={5} required first />
      <Field
        name="cwd"
        label="Folder"
        hint="On the machine of the server; empty: where it was started"
        known={known('cwd')}
      />
      <KnownField
        name="model"
        label="Model"
        hint="provider/model; empty: as configured"
        known={known('model')}
      />
      <Field name="thinking" label="Effort" hint="Empty: as configured" options={EFFORTS} />
      <KnownField name="profile" label="Profile" hint="Empty: as configured" known={known('profile')} />
      <Field
        name="toolset"
        label="Toolset"
        hint="How its agents work with others; empty: as configured"
        options={TOOLSETS}
      />
      <Field name="allow" label="Allow" lines={2} hint="Rules, one a line: bash:npm test" />
      <Field name="usd" label="Budget in US dollars" hint="Empty: the usual limit" number />
    </OrderDialog>
  );
}
