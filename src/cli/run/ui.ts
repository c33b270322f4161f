import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { titleOf } from '../../documents/tree-titles.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../../models/model.ts';
import { scriptTrust } from '../../models/workflow/saved-scripts.ts';
import { treeOutput } from '../../processes/output/spill-folder.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal, isWorking } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { exportPieces } from '../../serve/pages/tree-export.ts';
import { outputFolder, rulesFile, workFolder } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { type PlacementOptions, placementOf, refusePlacement } from '../../trees/leaders/placement.ts';
import { runApp } from '../../tui/app.ts';
import type { AppEnd, AppOptions } from '../../tui/app-options.ts';
import { keyBindings } from '../../tui/keys/keys-config.ts';
import { findRoot } from '../agents/find-agent.ts';
import { writeExport } from '../export/export.ts';
import { prepareModel } from '../first-run/prepare-model.ts';
import { openInBrowser, signInLink } from '../serve/sign-in-link.ts';
import { askLedger } from '../setup/ask-server.ts';
import { modelChoices } from '../setup/choose-model.ts';
import { composeRoot, composeTerms, type RootOptions } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { DEMO_MODEL, DEMO_TOOLS, demoModels } from '../setup/demo-rules.ts';
import { closeStore } from '../setup/end-process.ts';
import { addInstruction, instructionPlace } from '../setup/profiles/add-instruction.ts';
import { loadProjectParts } from '../setup/profiles/project-parts.ts';
import { isUsed } from '../setup/profiles/project-places.ts';
import { EXIT } from '../start/exit-code.ts';
import { isDumb, meterSettings, opensScreen, styleOfUi } from '../window/window-terminal.ts';
import { commandShell } from './called-prompt.ts';
import { parseLimits } from './limit-option.ts';
import { reportOpenTrees } from './report-open-trees.ts';

export interface UiOptions extends RootOptions, PlacementOptions {
  readonly tree?: string;
  readonly continue?: boolean;
  readonly resume?: boolean;
  readonly accessible?: boolean;
  readonly plain?: boolean;
  readonly limit: readonly string[];
  readonly detach?: boolean;
  /** Whether to set up a model first (`coppice setup`). */
  readonly set_up?: boolean;
}

/** `coppice` on a terminal: opens the conversation with the main agent, from which every agent of its tree can be opened. */
export async function ui(context: Context, options: UiOptions): Promise<number> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw options.set_up === true
      ? new CoppiceError('E_USAGE', 'setup asks, and needs a terminal on standard input and output', {
          hint: 'Without one: set the variable with the key of a provider; coppice doctor names them, and the servers on this machine',
        })
      : new CoppiceError('E_USAGE', 'the terminal UI needs a terminal on standard input and output', {
          hint: 'Without one: coppice run "…"',
        });
  if (options.detach !== true) refusePlacement(options);
  const store = await context.openStore();
  try {
    const found = await rootOf(context, store, options);
    // A tree that has ended is not continued: a new one starts, and the old one can be read by its id.
    const ended = options.tree === undefined && found !== null && isTerminal(found.state.type) ? found : null;
    const root = ended === null ? found : null;
    const told = ended === null ? [] : await tellEnded(store, ended);
    return await converseWithModel(context, options, store, root, told);
  } finally {
    await closeStore(store);
  }
}

async function rootOf(context: Context, store: Store, options: UiOptions): Promise<Agent | null> {
  const { tree } = options;
  if (tree === undefined && options.continue !== true) return null;
  return store.agent(await findRoot(context, askLedger(context, store), tree, { only_here: true }));
}

/** Runs one conversation, and after each `/setup` a new one with what was set up. */
async function converseWithModel(
  context: Context,
  options: UiOptions,
  store: Store,
  root: Agent | null,
  told: readonly string[],
): Promise<number> {
  const style = styleOfUi(context, options);
  const terms = composeTerms(context);
  const { profile, set_up = false } = options;
  const terminal = { style, line_mode: isDumb(context), openScreen: opensScreen(context, style) };
  const prepare = (latest: Context, again: boolean) =>
    prepareModel(latest, terms, { profile, set_up: again, ...terminal });
  // Choosing a conversation from the list may need no model.
  const picks = options.resume === true && !set_up;
  type Prepared = { readonly model: string | null; readonly context: Context };
  let prepared: Prepared | null =
    root !== null || picks ? { model: root?.config.model ?? null, context } : await prepare(context, set_up);
  if (prepared === null) return set_up ? EXIT.done : EXIT.no_credentials;
  const open = (at: Prepared, how: UiOptions, tree: Agent | null, lines: readonly string[]) =>
    converse(at.context, terms, how, style, store, tree, at.model, lines);
  let end = await open(prepared, options, root, told);
  while (end.how === 'setup') {
    await reportOpenTrees(context, store, end);
    prepared = await prepare(prepared.context, true);
    if (prepared === null) break;
    end = await open(prepared, { ...options, resume: false }, null, []);
  }
  return reportOpenTrees(context, store, end);
}

async function converse(
  context: Context,
  terms: ToolsetTerms,
  options: UiOptions,
  style: ReturnType<typeof styleOfUi>,
  store: Store,
  root: Agent | null,
  model: string | null,
  told: readonly string[],
): Promise<AppEnd> {
  const demo = model === DEMO_MODEL;
  const extra: ReadonlyMap<string, Model> = demoModels(true);
  const settings = (other: string | null) => {
    const allow = [...(demo ? DEMO_TOOLS : []), ...(options.allow ?? [])];
    const limits = parseLimits(options.limit);
    return composeRoot(context, terms, { ...options, allow, limits, model: other ?? model ?? undefined });
  };
  // Checks the settings before the person writes anything.
  let chosen = root === null && model !== null ? settings(null) : null;
  const trustStamp = () =>
    statSync(join(context.data_folder, 'trust.json'), { throwIfNoEntry: false })?.mtimeMs;
  let stamp = trustStamp();
  // Asked for at every key: read again only once something was trusted.
  const usual = () => {
    if (chosen !== null && stamp !== trustStamp()) chosen = settings(null);
    stamp = trustStamp();
    return chosen ?? settings(null);
  };
  const runtime = await composeRuntime(context, store, terms, { extra, can_ask: 'terminal' });
  const left = new AbortController();
  try {
    return await runApp({
      runtime,
      store,
      style,
      bindings: keyBindings(context.loaded.configuration.keys),
      openScreen: opensScreen(context, style),
      line_mode: isDumb(context),
      unled: context,
      placement: options.detach === true ? placementOf(store, options, context.env) : null,
      begin: (other) => (other === null ? usual() : settings(other)),
      exportTree: (...of) => exportFromWindow(context, store, ...of),
      uncalled: (name) => uncalledSkill(context, name),
      shell: commandShell(context, store),
      notes: {
        place: () => instructionPlace(context).shown,
        add(line) {
          const told = addInstruction(context, line);
          chosen = chosen && settings(null);
          return told;
        },
      },
      trust: scriptTrust(context.env, context.data_folder),
      models: () => modelChoices(context, terms),
      data_folder: context.data_folder,
      openDashboard: () => openDashboard(context),
      async mcp(name, tell) {
        if (name === null) {
          const { listedServers } = await import('../mcp/mcp-list.ts');
          const { rows, notices } = listedServers(context, { ...style, colour: false }, '/mcp login');
          return [...rows, ...notices].join('\n');
        }
        await (await import('../mcp/mcp-login.ts')).atLogin(context, name, tell, left.signal);
        return `logged in to ${name}`;
      },
      root_id: root?.id ?? null,
      picks: options.resume === true,
      resume: {
        ...(context.options.model === undefined ? {} : { model: context.options.model }),
        ...(options.limit.length === 0 ? {} : { limits: parseLimits(options.limit) }),
      },
      cwd: workFolder(context.options.cwd),
      rules_file: rulesFile(context.env),
      output_folder: treeOutput(outputFolder(context.data_folder), 'own-commands'),
      meters: meterSettings(context),
      vim: context.loaded.configuration.tui?.vim ?? false,
      banner: demo ? 'SCRIPTED DEMO' : null,
      greeting: [...told, ...(root === null && model !== null ? await greeting(store, model) : [])].map(
        context.hint,
      ),
      first: demo && root === null ? 'Audit this folder: split the work, then report.' : null,
    });
  } finally {
    left.abort();
    await runtime.close();
  }
}

function uncalledSkill(context: Context, name: string): string | null {
  const skill = loadProjectParts(context).skills.find((one) => one.name === name);
  if (skill === undefined) return null;
  if (isUsed(skill))
    return `/${name} is a skill that this conversation began without: /new begins one with it`;
  const why = skill.trust === 'changed' ? 'which has changed since you trusted it' : 'which is not trusted';
  return `/${name} is the skill ${skill.source}, ${why}: look and accept it with coppice trust, in a shell in this folder, then begin a conversation with it: /new`;
}

/** `/export`: writes a new file, and never over an existing one. Resolves to its path. */
async function exportFromWindow(
  context: Context,
  store: Store,
  ...[root_id, format, named]: Parameters<AppOptions['exportTree']>
): Promise<string> {
  const name = named ?? `coppice-${root_id.slice(0, 8)}.${format}`;
  const file = resolve(workFolder(context.options.cwd), name);
  await writeExport(exportPieces(context.version, askLedger(context, store), root_id, format), file, 'wx', {
    problem: `${file} was not written`,
    hint: 'Name another file: /export md FILE',
  });
  return file;
}

async function openDashboard(context: Context): Promise<string> {
  const link = await signInLink(context, 'write');
  if (link === null)
    return context.hint('no server runs on this ledger: start one in another terminal, coppice web');
  openInBrowser(link.url);
  return `the dashboard, with a one-time link: ${link.url}`;
}

async function tellEnded(store: Store, root: Agent): Promise<string[]> {
  const read = `coppice --tree ${root.id.slice(0, 8)}`;
  return [
    `the newest conversation here has ended (${await titleOf(store, root)}): this is a new one; read that with ${read}`,
  ];
}

async function greeting(store: Store, model: string): Promise<string[]> {
  const lines = [`coppice  ${clean(model)}  /help shows keys and commands, Ctrl-C twice leaves`];
  for (const root of await store.agents({ conversations: true, limit: 5 })) {
    const agents = await store.agents({ root_id: root.id, living: true });
    if (!agents.some((agent) => isWorking(agent.state.type))) continue;
    const what = await titleOf(store, root);
    lines.push(`unfinished: ${what}  coppice --tree ${root.id.slice(0, 8)}`);
    break;
  }
  return [...lines, ''];
}
