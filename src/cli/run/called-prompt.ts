import { homedir } from 'node:os';
import type { AgentConfig } from '../../records/agent/agent.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { ServerOffers } from '../../records/server-offers.ts';
import { clean } from '../../render/clean.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { outputFolder, rulesFile } from '../../settings/folders.ts';
import { openHooks, openServers } from '../../settings/runtime-parts.ts';
import { commandBounds } from '../../settings/sandbox-of.ts';
import type { Store } from '../../store/store.ts';
import { calledText, composeCalled, listedCommands, readCall } from '../../trees/typed/called-text.ts';
import {
  type CommandShell,
  consentNeeded,
  grantsOf,
  outputsOf,
  withHooks,
} from '../../trees/typed/command-shell.ts';
import type { Context } from '../setup/context.ts';

type Ledger = Pick<Store, 'kind' | 'location'> | null;

/** How commands in the text of called commands run. */
export function commandShell(
  { loaded: { configuration }, env, data_folder }: Context,
  ledger: Ledger,
): CommandShell {
  const bounds = commandBounds(configuration.sandbox, env, ledger);
  return {
    bounds,
    hooks: openHooks(configuration, env, bounds),
    env_allow: configuration.env_allow ?? [],
    spill_dir: outputFolder(data_folder),
    rules_file: rulesFile(env),
  };
}

/** The message that a prompt such as `/review src` calls, and the model that it wants. Nobody can be asked. Any other prompt stays as it is. */
export async function calledPrompt(
  context: Context,
  text: string,
  agent: AgentConfig,
  ledger: Ledger,
  offers: () => Promise<ServerOffers | null>,
): Promise<{ readonly message: ComposedText; readonly model: string | null }> {
  const as_is = { message: { text }, model: null };
  const call = readCall(text);
  if (call === null) return as_is;
  const { env } = context;
  const say = (line: string) => process.stderr.write(`${clean(line)}\n`);
  const place = { folder: agent.cwd, home: env.HOME ?? homedir(), config: agent, offers };
  const called = await calledText(text, place);
  if (called === null) {
    const names = listedCommands(place, null).map(({ name }) => `/${name}`);
    say(`no command /${call.name} here: sent as text. ${nameHint(`/${call.name}`, names, 'Commands')}`);
    return as_is;
  }
  const shell = commandShell(context, ledger);
  const denied = consentNeeded(called, agent, await grantsOf(agent, shell.rules_file, null, null));
  const [needed] = await withHooks(called, denied, shell, { config: agent, project: agent.cwd, tell: say });
  if (needed !== undefined)
    throw new CoppiceError(
      'E_REFUSED',
      `/${call.name} was not sent: it would run ${clean(needed)}, and nobody can be asked`,
      { hint: `Allow it: --allow 'bash:${needed}'` },
    );
  for (const notice of [`/${call.name} is ${called.source}`, ...called.notices]) say(notice);
  const { message, left_out } = await composeCalled(called, await outputsOf(called, agent, shell), place);
  for (const one of left_out) say(`not attached, since a project names it: @${one}`);
  return { message, model: called.model };
}

/** The same for a tree that begins elsewhere, with a model that is known there; only text is sent. */
export async function calledElsewhere(
  context: Context,
  text: string,
  config: () => AgentConfig,
): Promise<{ readonly prompt: string; readonly model: string | null }> {
  if (readCall(text) === null) return { prompt: text, model: null };
  const agent = config();
  const host = openServers(context.loaded.configuration, context.env, null);
  try {
    const offers = async () => (await host).offers({ root_id: '', config: agent });
    const { message, model } = await calledPrompt(context, text, agent, null, offers);
    if (message.images !== undefined)
      process.stderr.write('pictures are left out: only text is sent elsewhere\n');
    return { prompt: message.text, model };
  } finally {
    await (await host).close();
  }
}
