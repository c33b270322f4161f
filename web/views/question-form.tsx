import { type FormField, type FormValue, fieldText } from '../../src/records/question/form-field.ts';

export interface QuestionFormProps {
  /** Prefix of field ids, unique among the forms on a page. */
  readonly id: string;
  readonly fields: readonly FormField[];
  readonly busy: boolean;
  /** Called with the filled-in values as text; the server parses and validates them. */
  readonly onAnswer: (values: Readonly<Record<string, FormValue>>) => void;
}

/** Form for a question that a tool asks during a call. */
export function QuestionForm({ id, fields, busy, onAnswer }: QuestionFormProps) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const filled = fields.map(({ name, kind }) => {
          const texts = data.getAll(name).map((one) => String(one).trim());
          return [name, kind === 'choices' ? texts : (texts[0] ?? '')] as const;
        });
        onAnswer(Object.fromEntries(filled.filter(([, value]) => value.length > 0)));
      }}
    >
      {fields.map((field, place) => (
        <div class="field" key={field.name}>
          <label for={`${id}-${place}`}>
            {field.title ?? field.name}
            {field.required ? '' : ' (optional)'}
          </label>
          <Answer field={field} id={`${id}-${place}`} />
          <span class="hint" id={`${id}-${place}-hint`}>
            {field.description === undefined ? '' : `${field.description} · `}
            {fieldText(field)}
          </span>
        </div>
      ))}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {fields.length === 0 ? 'Yes' : 'Answer'}
        </button>
      </div>
    </form>
  );
}

function Answer({ field, id }: { readonly field: FormField; readonly id: string }) {
  const { name, kind, default: preset } = field;
  const terms = { id, name, 'aria-describedby': `${id}-hint` };
  const chosen = Array.isArray(preset) ? preset : [String(preset ?? '')];
  if (kind !== 'boolean' && kind !== 'choice' && kind !== 'choices')
    return <input {...terms} type="text" autocomplete="off" defaultValue={chosen.join(',')} />;
  const choices = kind === 'boolean' ? [{ value: 'true' }, { value: 'false' }] : (field.choices ?? []);
  return (
    <select
      {...terms}
      multiple={kind === 'choices'}
      size={kind === 'choices' ? Math.min(choices.length, 8) : undefined}
    >
      {kind !== 'choices' && <option value="" />}
      {choices.map(({ value, title }: { readonly value: string; readonly title?: string }) => (
        <option key={value} value={value} selected={chosen.includes(value)}>
          {title ?? value}
        </option>
      ))}
    </select>
  );
}
