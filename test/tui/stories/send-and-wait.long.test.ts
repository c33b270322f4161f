/** Proves what a person can send and wait for: rendered results, Esc, timeouts, and helpful errors for wrong input. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^split', step: 0 },
      say: 'Split.',
      calls: ['quick', 'steady', 'steady'].map((name) => ({
        name: 'fork',
        input: { name, prompt: `be ${name}` },
      })),
    },
    { when: { root: true }, say: 'Main heard: {{user}}' },
    {
      when: { agent: 'quick', user: 'report' },
      calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'the report of quick' } }],
      once: true,
    },
    { when: { agent: 'steady', user: 'go on', tool: 'bash' }, say: 'Went on: {{result}}' },
    {
      when: { agent: 'steady', user: 'go on' },
      delay_ms: 600,
      calls: [{ name: 'bash', input: { command: 'echo went' } }],
    },
    { say: '{{agent.name}} rests.' },
  ],
};

async function opened(test: Parameters<typeof openUi>[0]) {
  const ui = await openUi(test, RULES, { args: ['--allow', 'bash'] });
  await ui.say('split');
  await ui.pty.until('Main heard');
  await ui.pty.until(() => !ui.shows('◐'), 'all rest');
  return ui;
}

it('a fan-in wait of a person shows live rows and the result, while others continue and the model is told nothing', async (test) => {
  const ui = await opened(test);
  const { pty } = ui;
  await ui.say('/wait 30 1 2');
  // Both are idle, so the wait ends at once.
  await pty.until('wait ended');
  await pty.until(() => pty.screen().filter((line) => /(quick|steady) .*○ idle/.test(line)).length === 2);
  await ui.say('/send 2 go on');
  await pty.until('sent to steady');
  await ui.say('/send quick report');
  await pty.until('sent to quick');
  // It sends nothing this time, so the end of its turn is told to the model.
  await pty.until('✓ done: quick rests.');
  await ui.press(KEY.alt(2));
  await pty.until('Went on: went');
});

it('Esc stops waiting and shows what is known so far; the agents continue', async (test) => {
  const ui = await openUi(test, {
    rules: [
      {
        when: { root: true, user: '^split', step: 0 },
        say: 'Split.',
        calls: ['slow', 'lazy'].map((name) => ({ name: 'fork', input: { name, prompt: 'x' } })),
      },
      { when: { root: true }, say: 'Main heard: {{user}}' },
      { when: { agent: 'slow', step: 0 }, delay_ms: 600_000, say: 'never' },
      { say: 'rests' },
    ],
  });
  const { pty } = ui;
  await ui.say('split');
  await pty.until('Main heard');
  await ui.say('/wait 60 slow lazy');
  await pty.until('wait 2 agents');
  await pty.until('◐ slow  thinking');
  await pty.until('○ lazy');
  await pty.until('Esc stops waiting (agents keep running)');
  await ui.press(KEY.alt(1));
  await ui.inView('1 slow');
  await pty.until('thinking');
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await pty.until('waiting');
  await ui.press(KEY.escape);
  await pty.until('wait ended');
  await pty.until('interrupted');
  const states = await ui.ledger((store) => store.agents({}));
  assert.equal(states.find((agent) => agent.name === 'slow')?.state.type, 'requesting', 'it keeps running');

  await ui.say('/wait 0.3 slow');
  await pty.until('timed out');
  await ui.say('/wait 0.3');
  const shows = (text: RegExp) => () => text.test(pty.screen().join('\n'));
  await pty.until(shows(/lazy +○ idle +rests\n +timed out/));
  await ui.say('/wait 60');
  await pty.until('Esc stops waiting');
  await ui.press(KEY.escape);
  await pty.until(shows(/timed out[\s\S]*lazy +○ idle +rests\n +interrupted/));
  const root = await ui.ledger(async (store) => {
    const [agent] = await store.agents({ conversations: true });
    return store.history(agent?.id ?? '');
  });
  assert.equal(
    root.filter((message) => message.kind === 'assistant').length,
    3,
    'no model was asked for a wait, only for the end of lazy',
  );
});

it('a wait for anyone shows the first message, and leaves it to the agent', async (test) => {
  const ui = await openUi(test, {
    rules: [
      {
        when: { root: true, user: '^split', step: 0 },
        say: 'Split.',
        calls: [{ name: 'fork', input: { name: 'teller', prompt: 'x' } }],
      },
      { when: { root: true, user: '^split' }, say: 'Main rests.' },
      { when: { root: true }, say: 'Main was told' },
      {
        when: { agent: 'teller', step: 0 },
        delay_ms: 1_500,
        calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'a word from **teller**' } }],
      },
      { say: 'rests' },
    ],
  });
  await ui.say('split');
  await ui.pty.until('Main rests.');
  await ui.say('/wait 60');
  await ui.pty.until('Esc stops waiting');
  await ui.pty.until('wait ended');
  await ui.pty.until('✓ received');
  await ui.pty.until('a word from');
  await ui.pty.until('Main was told');
});

it('invalid commands are answered with the right usage', async (test) => {
  const ui = await opened(test);
  const { pty } = ui;
  for (const [typed, told] of [
    ['/frok', 'no command /frok. Did you mean /fork?'],
    ['/zzzzzzzzzz', 'no command /zzzzzzzzzz. /help shows all.'],
    ['/fork do this', '/fork takes no text: use /capture first, then /fork.'],
    ['/wait', 'SECONDS is a number from 0 to 86400. Usage: /wait SECONDS [AGENT…]'],
    ['/wait soon', 'SECONDS is a number'],
    ['/wait -1', 'SECONDS is a number'],
    ['/wait 5 noone', 'no agent "noone". /agents shows all.'],
    ['/send', 'the agent is missing. Usage: /send AGENT MESSAGE'],
    ['/send quick', 'the message is empty. Usage: /send AGENT MESSAGE'],
    ['/send qick hello', 'no agent "qick". Did you mean quick?'],
    ['/agent', 'name one agent. Usage: /agent NAME|NUMBER'],
    ['/kill quick nobody', 'no agent "nobody". /agents shows all.'],
    ['/cancel', 'nothing is being captured'],
    ['/reap all', '/reap takes no arguments. Usage: /reap'],
  ] as const) {
    await ui.say(typed);
    await pty.until(told);
  }
  // Two agents share a name: both are listed, and a prefix of the id is enough.
  const twins = (await ui.ledger((store) => store.agents({}))).filter((agent) => agent.name === 'steady');
  await ui.say('/send steady hello');
  await pty.until('"steady" may be any of');
  for (const twin of twins)
    assert.ok(
      pty
        .screen()
        .join('')
        .includes(`steady (${twin.id.slice(0, 8)})`),
    );
  const prefix = (twins[1]?.id ?? '').slice(0, 13);
  await ui.say(`/agent ${prefix}`);
  await pty.until(() => pty.screen().some((line) => line.includes('steady]')));
  // A path is not a command.
  await ui.say('/etc/hosts is odd');
  await pty.until('/etc/hosts is odd');
  await pty.until('steady rests.');
});
