import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { type Method, type Sending, useApi, useSending } from '../data/api.ts';
import { Button } from './button.tsx';
import { Trouble } from './trouble.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog: Escape closes it, and the focus goes back to where it was. */
function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={ref} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** A dialog that only says something. */
export function SayingDialog({ children, ...dialog }: DialogProps) {
  return (
    <Dialog {...dialog}>
      {children}
      <div class="buttons">
        <Button does="Close" onClick={dialog.onClose} data-first />
      </div>
    </Dialog>
  );
}

export interface FormDialogProps extends DialogProps {
  readonly sending: Pick<Sending, 'busy' | 'error'>;
  /** Label of the submit button. */
  readonly does: string;
  readonly danger?: boolean;
  readonly onSubmit: (fields: Fields) => void;
}

/** Returns the trimmed text of a field; undefined if it is empty. */
export type Fields = (name: string) => string | undefined;

/** A form in a dialog; Ctrl+Enter sends it from any field. */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, children, sending, does, danger = false, onSubmit } = props;
  const submit = (form: HTMLFormElement) => {
    const data = new FormData(form);
    onSubmit((name) => String(data.get(name) ?? '').trim() || undefined);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        {children}
        <Trouble error={sending.error} />
        <div class="buttons">
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={sending.busy}>
            {does}
          </button>
          <Button does="Cancel" onClick={onClose} data-first={danger ? true : undefined} />
        </div>
      </form>
    </Dialog>
  );
}

interface OrderDialogProps<Answer> extends Omit<FormDialogProps, 'sending' | 'onSubmit'> {
  readonly method?: Method;
  readonly path: string;
  readonly body?: (field: Fields) => object;
  readonly onSent: (answer: Answer) => void;
}

/** A form in a dialog that sends one order, and closes when the server has taken it. */
export function OrderDialog<Answer>(props: OrderDialogProps<Answer>) {
  const { method = 'POST', path, body = () => ({}), onSent, ...dialog } = props;
  const sending = useSending();
  const submit = async (field: Fields) => {
    const answer = await sending.send<Answer>(method, path, body(field));
    if (answer === null) return;
    dialog.onClose();
    onSent(answer);
  };
  return <FormDialog {...dialog} sending={sending} onSubmit={submit} />;
}

export interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value?: string;
  readonly lines?: number;
  readonly required?: boolean;
  readonly first?: boolean;
  /** It takes a number, or nothing. */
  readonly number?: boolean;
  readonly options?: readonly string[];
  /** Values that are offered while one types. */
  readonly known?: readonly string[];
  /** Several of them can be typed, with commas between them. */
  readonly many?: boolean;
}

interface KnownFieldProps extends Pick<FieldProps, 'label' | 'hint' | 'many' | 'known'> {
  readonly name: 'model' | 'models' | 'profile' | 'profiles';
}

/** A field for models or profiles. Those that the server knows are offered, too. */
export function KnownField({ known = [], ...field }: KnownFieldProps) {
  const { data } = useApi<DocumentOf<'coppice/session/v1'>>('/v1/session');
  const kind = field.name.startsWith('model') ? 'models' : 'profiles';
  return <Field {...field} known={[...new Set([...(data?.[kind] ?? []), ...known])]} />;
}

const NUMBER = {
  inputMode: 'decimal',
  pattern: '[0-9]*[.]?[0-9]+',
  title: 'A number, such as 2.50',
} as const;

/** A labelled field of a form. */
export function Field(props: FieldProps) {
  const { name, label, hint, value, lines, required, first, number, options, known = [], many } = props;
  const [typed, setTyped] = useState('');
  const before = many === true ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const terms = {
    id: `field-${name}`,
    name,
    required,
    'data-first': first,
    'aria-describedby': hint === undefined ? undefined : `hint-${name}`,
  };
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      {options !== undefined ? (
        <select {...terms}>
          {options.map((option) => (
            <option key={option} selected={option === value}>
              {option}
            </option>
          ))}
        </select>
      ) : lines === undefined ? (
        <>
          <input
            {...terms}
            type="text"
            {...(number === true ? NUMBER : {})}
            defaultValue={value}
            autocomplete="off"
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            list={known.length === 0 ? undefined : `known-${name}`}
          />
          {known.length > 0 && (
            <datalist id={`known-${name}`}>
              {known.map((one) => (
                <option key={one} value={`${before}${one}`} />
              ))}
            </datalist>
          )}
        </>
      ) : (
        <textarea
          {...terms}
          rows={lines}
          defaultValue={value}
          onInput={({ currentTarget }) => {
            const empty = required === true && currentTarget.value.trim() === '';
            currentTarget.setCustomValidity(empty ? 'Write something' : '');
          }}
        />
      )}
      {hint !== undefined && (
        <span class="hint" id={`hint-${name}`}>
          {hint}
        </span>
      )}
    </div>
  );
}
