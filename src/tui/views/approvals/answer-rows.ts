import type { Ask } from '../../../records/conversation/ask.ts';
import { choicesFor, type FormField, neededField } from '../../../records/question/form-field.ts';
import { chosenValue, questionOf } from '../../../records/question/question.ts';
import { clean } from '../../../render/clean.ts';
import type { Shortcuts } from '../../keys/shortcuts.ts';
import type { Answer } from '../../state/answer.ts';
import { proposedRules } from '../../state/grant-draft.ts';
import type { Question } from '../../state/ui-state.ts';
import { columns, type Part } from '../../text/line.ts';

export interface AskingKeys {
  readonly shortcuts: Shortcuts;
  /** Whether there is a draft: letters then extend it, and only chords answer. */
  readonly drafting: boolean;
  /** Whether the question is shown beside the list of agents, whose keys are others. */
  readonly listed?: boolean;
  /** The file with the rules that are granted for good. */
  readonly rules_file?: string;
  /** Text that says how to see the lines for which there is no room. */
  readonly whole?: string;
  /** Names from the root down to the agent that asks, if the state does not contain the agents themselves. */
  readonly lineage?: readonly string[];
}

/** The keys that answer: all of them are always visible, with fewer words where there is less room. `alike`: number of other open questions like this one. */
export function answerRows(
  ask: Ask,
  { saying, held }: Question,
  { shortcuts, drafting, listed = false }: AskingKeys,
  width: number,
  alike = 0,
): (readonly Part[])[] {
  if (saying !== null)
    return [[`why not: ${clean(saying)}`], [['dim', 'Enter denies with these words   Esc back']]];
  if (held !== null) {
    const chosen = held.answer === 'choose' ? ` "${clean(chosenValue(ask, held.text) ?? '')}"` : '';
    return [
      [key(held.text), ` ${HELD[held.answer]}${chosen} in a moment`],
      [['dim', held.unwritten ? 'any other key stops it' : 'any other key makes it text']],
    ];
  }
  if (listed) return [[key('y'), ' once   ', key('n'), ' deny   ', key('Enter'), ' goes there for more']];
  const question = questionOf(ask);
  const choices = question === null ? [] : choiceKeys(ask, question.fields, width);
  if (drafting)
    return choices.length === 0
      ? chordRows(shortcuts, width)
      : [[['dim', 'text: numbers choose once the line is empty']], chordRows(shortcuts, width)[1] ?? []];
  if (question !== null) return questionRows(question.fields, choices, width);
  const offer = offerOf(ask, width);
  if (width >= 50)
    return [
      [key('y'), ' once   ', key('s'), ` ${offer}   `, key('n'), ' deny   ', key('m'), ' deny+say'],
      [
        ...[key('Y'), ` all like it${alike === 0 ? '' : ` (${alike + 1})`}   `, key('A'), ' narrow rule   '],
        ...[key('v'), ' view   ', key('Esc'), ' later'],
      ],
    ];
  if (width >= 30)
    return [
      [key('y'), ' once  ', key('s'), ' rule  ', key('n'), ' deny  ', key('m'), ' say'],
      [key('Y'), ' all  ', key('A'), ' narrow  ', key('v'), ' view  ', key('Esc'), ' later'],
    ];
  return [[key('y'), ' yes ', key('n'), ' no ', key('s'), ' ', key('m'), ' ', key('v'), ' ', key('Esc')]];
}

/** The digits that choose, where a choice is all that is asked for: with the choices if there is room. */
function choiceKeys(ask: Ask, fields: readonly FormField[], width: number): readonly Part[] {
  const needed = neededField(fields);
  const choices = needed === null ? [] : choicesFor(needed);
  const keys = [...'1234567890'].flatMap((digit) => {
    const chosen = choices.find(({ value }) => value === chosenValue(ask, digit));
    return chosen === undefined ? [] : [key(digit), ` ${clean(chosen.title ?? chosen.value)}   `];
  });
  if (keys.length === 0) return [];
  const more: readonly Part[] = keys.length / 2 < choices.length ? [key('/allow CHOICE')] : [];
  const all = [...keys, ...more];
  return columns(all) <= width ? all : [keys[0] as Part, '-', keys.at(-2) as Part, ' choose   ', ...more];
}

/** The keys for a question of a tool: no rule answers it, and a form is filled in by a command. */
function questionRows(
  fields: readonly FormField[],
  choices: readonly Part[],
  width: number,
): (readonly Part[])[] {
  const form = width >= 50 ? ' with its own defaults; else: /allow NAME=VALUE…' : ' or /allow NAME=VALUE…';
  const needed = fields.filter((field) => field.required && field.default === undefined);
  const values = needed.map(({ name, choices = [] }) => {
    const value = clean(choices[0]?.value ?? 'VALUE');
    return `${clean(name)}=${/\s/.test(value) ? `"${value}"` : value}`;
  });
  const first: Part[] = [key('y'), fields.length > 0 ? form : ' yes'];
  return [
    // Without a value, nothing can be allowed.
    choices.length > 0 ? choices : needed.length > 0 ? [key(`/allow ${values.join(' ')}`)] : first,
    [key('n'), ' decline  ', key('m'), ' say why  ', key('v'), ' view  ', key('Esc'), ' later'],
  ];
}

/** The label of `s`: the rule that would be offered, if there is room to spell it out. */
function offerOf(ask: Ask, width: number): string {
  const { rules, first } = proposedRules(ask);
  const offer = `${clean(rules[first] ?? '')} from now on…`;
  const room = width - OTHER_KEYS;
  return rules.length > 0 && offer.length <= room ? offer : 'from now on…';
}

/** Columns that the other answers of the row take. */
const OTHER_KEYS = 40;

const HELD: Readonly<Record<Answer, string>> = {
  allow: 'allows this once',
  allow_alike: 'shows all that are like it',
  allow_rule: 'shows the rule',
  allow_narrow: 'shows the narrow rule',
  choose: 'answers',
  edit_rule: 'lets you write the rule',
  deny: 'denies',
  deny_saying: 'asks for your words',
  view_asker: 'goes to the agent',
  whole: 'prints all of it',
};

/** The keys while there is a draft: only chords answer. */
function chordRows(shortcuts: Shortcuts, width: number): (readonly Part[])[] {
  const chord = (action: Exclude<Answer, 'choose'>, long: string, short: string): Part[] => {
    const name = shortcuts.whole(action);
    return name === null ? [] : [key(name), ` ${width >= 82 ? long : short}  `];
  };
  const first = [...chord('allow', 'answers', 'answers'), ...chord('allow_rule', 'from now on…', 'rule')];
  const second = [...chord('deny', 'denies', 'denies'), ...chord('deny_saying', 'deny+say', 'say')];
  const more = [
    ...chord('allow_alike', 'all like it', 'all'),
    ...chord('allow_narrow', 'narrow rule', 'narrow'),
  ];
  const last = [...chord('view_asker', 'view', 'view'), key('Esc'), ' later'];
  // A letter taken as text says so.
  const text: Part = ['dim', width >= 30 ? 'text: ' : ''];
  if (width < 56) {
    const others = (['allow_rule', 'deny', 'deny_saying', 'view_asker'] as const).map((action) =>
      shortcuts.short(action),
    );
    const letters = others.filter((letter) => letter !== null).join(' ');
    return [
      [text, ...first.slice(0, 2)],
      [key(`${shortcuts.leader} ${letters}`), '  ', key('Esc'), ' later'],
    ];
  }
  return width >= 82
    ? [
        [text, ...first, ...second],
        [...more, ...last],
      ]
    : [
        [text, ...first, ...second.slice(0, 2)],
        [...second.slice(2), ...more.slice(0, 2), ...last],
      ];
}

export function key(name: string): Part {
  return ['bold', name];
}
