import { AIMS, sentToModel } from '../test/cli/run/sent-to-model.ts';
import { makeHome } from '../test/cli/run-cli.ts';

/**
 * `npm run bench:tools`: prints how much a model is sent before the conversation begins, system text and tools together as characters / 4, for the root of each
 * vocabulary with the usual settings, beside the definitions that each vocabulary was designed with.
 */

/** The tools of each vocabulary, and the tokens of their first definitions (of slash: its guidance). */
const FIRST: Readonly<Record<string, { readonly own: RegExp; readonly tokens: number }>> = {
  process: { own: /^(?:fork|kill|send|wait)$/, tokens: 260 },
  fanout: { own: /^spawn_agents$/, tokens: 180 },
  sessions: { own: /^(?:sessions_|cron)/, tokens: 212 },
  delegate: { own: /^subagent_/, tokens: 339 },
  slash: { own: /^slash$/, tokens: 329 },
};

process.stdout.write('vocabulary     all   aim   own tools   as first defined\n');
for (const [toolset, aim] of Object.entries(AIMS)) {
  const [sent] = await sentToModel(makeHome(), toolset);
  if (sent === undefined) throw new Error(`${toolset}: nothing was sent`);
  const { own, tokens } = FIRST[toolset] as (typeof FIRST)[string];
  const mine = JSON.stringify(sent.tools.filter((one) => own.test(one.function.name))).length;
  const guidance = toolset === 'slash' ? sent.system.length - sent.system.indexOf('###') : 0;
  const columns = [sent.tokens, aim, Math.ceil((mine + guidance) / 4), tokens];
  process.stdout.write(`${toolset.padEnd(10)}${columns.map((one) => String(one).padStart(8)).join('')}\n`);
}
