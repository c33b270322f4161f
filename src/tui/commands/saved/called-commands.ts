import { statSync } from 'node:fs';
import { asksForWorkflow } from '../../../kernel/toolsets/workflow/workflow-toolset.ts';
import { savedScripts } from '../../../models/workflow/script-places.ts';
import { skillsOf, skillText } from '../../../records/agent/skill.ts';
import type { ServerOffers } from '../../../records/server-offers.ts';
import { clean } from '../../../render/clean.ts';
import {
  type CalledText,
  type CommandPlace,
  calledText,
  composeCalled,
  listedCommands,
} from '../../../trees/typed/called-text.ts';
import { commandFiles } from '../../../trees/typed/command-files.ts';
import { consentNeeded, grantsOf, outputsOf, withHooks } from '../../../trees/typed/command-shell.ts';
import type { AppContext } from '../../app-context.ts';
import { sendComposed } from '../../composer/write-message.ts';
import { modeInView } from '../../state/ui-state.ts';
import { isBuiltIn } from '../read-command.ts';
import { savedCall, savedCommands, startSaved } from './workflow.ts';

/** How long what servers offer is fresh; a stale list is still shown while the next one is asked for. */
const FRESH_MS = 10_000;

/** `label`: `/NAME ARGUMENTS`. */
interface CalledRow {
  readonly name: string;
  readonly label: string;
  readonly help: string;
}

/** Commands that are no commands of the program, but files, workflows, skills and prompts of MCP servers. */
export class CalledCommands {
  readonly #app: AppContext;
  readonly #known = new Map<string, { readonly offers: ServerOffers | null; readonly at: number }>();
  /** Names of which people were told that they mean a command of the program. */
  readonly #told = new Set<string>();
  /** What was listed last, and what it was read from. The folder of data has what the person trusts. */
  #listed: { readonly stamps: readonly unknown[]; readonly rows: readonly CalledRow[] } = {
    stamps: [],
    rows: [],
  };

  constructor(app: AppContext) {
    this.#app = app;
  }

  place(to: string | null): CommandPlace {
    const { folder, config } = this.#app.placeOf(to);
    const root_id = this.#app.state.root_id ?? '';
    const offers = () => this.#app.runtime.offers({ root_id, config });
    return { folder, config, home: this.#app.options.trust.home, offers };
  }

  /** What MCP servers offered when they were last asked: completion does not wait for them. */
  offers(): ServerOffers | null {
    const place = this.place(this.#app.state.view);
    const key = `${this.#app.state.root_id} ${place.config.cwd}`;
    const { offers = null, at = 0 } = this.#known.get(key) ?? {};
    if (Date.now() - at > FRESH_MS) {
      this.#known.set(key, { offers, at: Date.now() });
      const keep = (found: ServerOffers | null) => this.#known.set(key, { offers: found, at: Date.now() });
      void place.offers().then(keep, () => undefined);
    }
    return offers;
  }

  /** For completion and help. */
  rows(): readonly CalledRow[] {
    const rows = this.#all();
    return rows.filter(
      ({ name }, at) => !isBuiltIn(name) && rows.findIndex((one) => one.name === name) === at,
    );
  }

  /** What can be called, also what others hide. Asked for at every key: read again only after a change. */
  #all(): readonly CalledRow[] {
    const place = this.place(this.#app.state.view);
    const { folder } = this.#app.placeOf(null);
    const files = [...commandFiles(place.folder, place.home), ...savedScripts(folder, place.home)];
    const paths = [this.#app.options.data_folder, ...files.map(({ path }) => path)];
    const skills = skillText(skillsOf(place.config));
    const stamps = [place.folder, skills, this.offers(), ...paths, ...paths.map(stampOf)];
    const { length } = this.#listed.stamps;
    if (stamps.length !== length || stamps.some((stamp, at) => stamp !== this.#listed.stamps[at])) {
      const all = [...listedCommands(place, this.offers()), ...savedCommands(this.#app)];
      const rows = all.map(({ name, hint, help }) => ({ name, label: `/${name} ${hint}`.trim(), help }));
      this.#listed = { stamps, rows };
    }
    return this.#listed.rows;
  }

  /** Says once that a command of the program has the name of another one, which is not called so. */
  tellHidden(name: string): void {
    const hidden = this.#all().find((one) => one.name === name);
    if (hidden === undefined || this.#told.has(name)) return;
    this.#told.add(name);
    this.#app.say(`/${name} is a command of Coppice. Rename the other one to call it: ${hidden.help}`);
  }

  /** Does what a line calls; false if it calls none of these. */
  async call(to: string | null, line: string): Promise<boolean> {
    const called = await calledText(line, this.place(to));
    if (called !== null) await this.#send(to, line, called);
    const saved = called === null ? savedCall(this.#app, line) : null;
    if (saved !== null) await startSaved(this.#app, saved);
    return called !== null || saved !== null;
  }

  /** Sends the text of a command, once the person has allowed what it runs. */
  async #send(to: string | null, typed: string, called: CalledText): Promise<void> {
    const app = this.#app;
    const place = this.place(to);
    const { config } = place;
    const agent = app.state.agents.get(to ?? '') ?? null;
    const grants =
      called.commands.length === 0 ? [] : await grantsOf(config, app.options.rules_file, agent, app.store);
    const mode = modeInView(app.state);
    const project = app.placeOf(null).config.cwd;
    const needed = await withHooks(called, consentNeeded(called, config, grants, mode), app.options.shell, {
      ...{ config, agent, mode, project },
      tell: (text) => app.say(text),
    });
    const compose = async () => {
      const { message, left_out } = await composeCalled(
        called,
        await outputsOf(called, config, app.options.shell),
        place,
      );
      for (const one of left_out) app.say(`not attached, since a project names it: @${clean(one)}`);
      return message;
    };
    const run = () => {
      if (called.model !== null && to === null) app.next_model = called.model;
      sendComposed(app, to, compose, typed, asksForWorkflow(called.args));
    };
    const said = [`/${called.name} is ${called.source}`, ...called.notices];
    if (called.model !== null && to !== null)
      said.push(`its model ${clean(called.model)} is not used: this conversation has one; /model changes it`);
    if (needed.length === 0) {
      app.say(said.join('\n'));
      return run();
    }
    const what = [...said, `it would run, in ${place.folder}:`, ...needed.map((one) => `  ${clean(one)}`)];
    app.say(what.join('\n  '), 'now');
    const question = `Run the commands of /${clean(called.name)}, as shown above?`;
    app.dispatch({ type: 'overlay', overlay: { type: 'consent', question, yes: 'run and send', run } });
  }
}

/** Changes with the contents of a file, or with the names in a folder. */
function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return `${stat?.ctimeMs} ${stat?.size}`;
}
