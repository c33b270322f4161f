import type { Thinking } from '../../records/agent/agent.ts';
import { didYouMean } from '../../render/nearest-name.ts';
import type { AppContext } from '../app-context.ts';
import type { ModelChoice } from '../app-options.ts';
import { type Picker, takesEffort } from '../state/picker.ts';

/** `/model`: lists the configured models; `/model NAME` switches the agent in view, or sets the model of the conversation that is about to begin. */
export async function switchModel(app: AppContext, text: string): Promise<void> {
  const choices = app.options.models();
  if (text === '') return app.dispatch({ type: 'overlay', overlay: modelPicker(app, choices) });
  const names = choices.map(({ name }) => name);
  const behind_slash = names.filter((name) => name.endsWith(`/${text}`));
  const known = names.includes(text) || behind_slash.length === 1;
  const name = behind_slash.length === 1 ? (behind_slash[0] ?? text) : text;
  if (!known && !/[/:]/.test(text))
    return app.say(
      `no model "${text}". ${didYouMean(
        text,
        names.flatMap((one) => [one, one.slice(one.indexOf('/') + 1)]),
      )}/model lists what is configured.`,
      'bad',
    );
  await useModel(app, name);
  const nearest = known || name.startsWith('scripted:') ? '' : didYouMean(name, names);
  if (nearest !== '') app.say(`${name} is not known here. ${nearest}`);
}

/** Switches the agent in view from its next request on; without one, sets the model of the conversation that the next message begins. */
export async function useModel(app: AppContext, name: string, effort?: Thinking): Promise<void> {
  const { view, agents } = app.state;
  const agent = view === null ? undefined : agents.get(view);
  if (agent === undefined) {
    app.next_model = name;
    app.next_effort = effort ?? app.next_effort;
    const thinks = app.next_effort === null ? '' : `, effort ${app.next_effort}`;
    return app.say(`the conversation will begin with ${name}${thinks}`);
  }
  const { model, thinking } = agent.config;
  if (model === name && (effort ?? thinking) === thinking)
    return app.say(`${agent.name} already uses ${name}, effort ${thinking}`);
  await app.runtime.switchModel(agent.id, name, effort === thinking ? undefined : effort);
  if (agent.state.type === 'errored') app.say('/retry repeats the request that failed, with this model');
}

/** `/effort`: the same list; `/effort LEVEL` changes only how much the model thinks. */
export async function switchEffort(app: AppContext, effort: Thinking | null): Promise<void> {
  if (effort === null) return switchModel(app, '');
  const agent = app.state.agents.get(app.state.view ?? '');
  await useModel(app, agent?.config.model ?? app.next_model ?? app.placeOf(null).config.model, effort);
}

function modelPicker(app: AppContext, choices: readonly ModelChoice[]): Picker {
  const { view, agents } = app.state;
  const agent = view === null ? undefined : agents.get(view);
  const used = agent?.config.model ?? app.next_model;
  const rows = [
    ...(used === null
      ? []
      : [{ name: used, note: agent === undefined ? 'chosen' : `in use by ${agent.name}` }]),
    ...choices.filter(({ name }) => name !== used),
  ];
  return {
    type: 'picker',
    choose: ({ id }, picker) => useModel(app, id, takesEffort(picker) ? picker.effort : undefined),
    heading: 'Models',
    rows: rows.map(({ name, note }) => ({ id: name, text: name, figures: [['dim', note]] })),
    filter: '',
    selected: null,
    empty: 'none is configured: coppice setup connects one',
    verb: 'use',
    effort: agent?.config.thinking ?? app.next_effort ?? app.placeOf(null).config.thinking,
    command: '/model NAME',
    other: null,
  };
}
