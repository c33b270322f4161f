import { useState } from 'preact/hooks';
import { type ApiError, download } from '../../data/api.ts';
import { Field, type Fields, FormDialog } from '../../parts/dialog.tsx';

/** Formats by what a person wants with the file. */
const FORMATS: Readonly<Record<string, string>> = {
  'HTML, a page that opens without a server': 'html',
  'Markdown, a text to read': 'md',
  'JSON, for programs': 'json',
};

interface ExportTreeProps {
  readonly root: { readonly root_id: string };
  readonly onClose: () => void;
}

/** Saves the tree as one file, as `coppice export` does. */
export function ExportTree({ root, onClose }: ExportTreeProps) {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null });
  const save = (field: Fields) => {
    setState({ busy: true, error: null });
    const format = FORMATS[field('format') ?? ''] ?? 'html';
    download(`/v1/trees/${root.root_id}/export?format=${format}`).then(onClose, (error) =>
      setState({ busy: false, error }),
    );
  };
  return (
    <FormDialog
      title="Export the tree"
      does="Save the file"
      onClose={onClose}
      sending={state}
      onSubmit={save}
    >
      <Field
        name="format"
        label="As"
        options={Object.keys(FORMATS)}
        hint="It holds all conversations of the tree, with whatever agents read: share it with care"
        first
      />
    </FormDialog>
  );
}
