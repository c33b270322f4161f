import type { InboundChannel } from '../../channels/channel.ts';
import { nextInstant } from '../../cron/schedule/next-instant.ts';
import { errorJson } from '../../documents/error-json.ts';
import { livingServers } from '../../store/process-gone.ts';
import type { Store } from '../../store/store.ts';
import { channelSecrets } from '../setup/channels-config.ts';
import type { Context } from '../setup/context.ts';
import { openChannels } from '../setup/open-channels.ts';
import { type Check, needed, optional } from './machine-checks.ts';

const PROBE_MS = 6_000;
/** Maximum difference between the clocks of this machine and the ledger. */
const CLOCK_MS = 2_000;

/** Checks what coppice serve needs: secrets and tokens of channels, zones of schedules, the clock of the ledger, and a server. */
export async function serveChecks(context: Context, store: Store | null): Promise<Check[]> {
  const channels = [...(await channelChecks(context)), ...hookChecks(context)];
  if (store === null) return channels;
  try {
    return [...channels, await clock(store), ...(await schedules(store)), await server(store)];
  } catch {
    // Another check reports that the ledger cannot be used.
    return channels;
  }
}

async function channelChecks({ loaded, env }: Context): Promise<Check[]> {
  const config = loaded.configuration.channels ?? {};
  const secrets = channelSecrets(config).map((name): Check => {
    const set = (env[name] ?? '').trim() !== '';
    return needed('  channel', set, `${name} is ${set ? 'set' : 'not set'}`);
  });
  if (secrets.some(({ ok }) => !ok)) return secrets;
  try {
    const { all, inbound } = openChannels(config, env, () => undefined);
    const probes = await Promise.all(inbound.map(probe));
    await Promise.all(all.map((channel) => channel.close()));
    return [...secrets, ...probes];
  } catch (error) {
    return [...secrets, needed('  channel', false, errorJson(error).message)];
  }
}

/** Webhooks that other programs send to: where, how they are signed, and whether the secret is set. */
function hookChecks({ loaded, env }: Context): Check[] {
  return Object.entries(loaded.configuration.hooks ?? {}).map(([name, { secretEnv, signature }]) => {
    const set = (env[secretEnv] ?? '').trim() !== '';
    return needed(
      `  hook:${name}`,
      set,
      `POST /v1/hooks/${name}, signature ${signature}, ${secretEnv} is ${set ? 'set' : 'not set'}`,
    );
  });
}

async function probe(channel: InboundChannel): Promise<Check> {
  const { ok, text } = await channel.probe(AbortSignal.timeout(PROBE_MS));
  return needed(`  ${channel.name}`, ok, text);
}

async function clock(store: Store): Promise<Check> {
  const before = Date.now();
  const theirs = await store.now();
  // Compared with the middle of the round trip.
  const apart = Math.round(theirs - (before + Date.now()) / 2);
  const ok = Math.abs(apart) <= CLOCK_MS;
  const text = ok
    ? 'this machine and the ledger agree'
    : `the ledger's clock is ${Math.abs(apart) / 1000} s ${apart > 0 ? 'ahead of' : 'behind'} this machine's: schedules go by the ledger's; set them by NTP`;
  return optional('clock', ok, text);
}

/** Finds schedules with a zone that this Node does not know or an expression of a newer Coppice. */
async function schedules(store: Store): Promise<Check[]> {
  const jobs = (await store.jobs()).filter(({ enabled }) => enabled);
  const wrong = jobs.flatMap((job): Check[] => {
    try {
      nextInstant(job.schedule, Date.now());
      return [];
    } catch (error) {
      const text = `${job.name} can never be due: ${errorJson(error).message}`;
      return [optional('schedule', false, text)];
    }
  });
  const zones = new Set(jobs.flatMap(({ schedule }) => (schedule.type === 'cron' ? schedule.tz : [])));
  const of = zones.size === 0 ? '' : `; zones: ${[...zones].join(', ')}`;
  const count = `${jobs.length} enabled${of}`;
  return wrong.length > 0 ? wrong : [optional('schedules', true, count)];
}

async function server(store: Store): Promise<Check> {
  const servers = await livingServers(store);
  const where = servers.map(({ host, pid }) => `${host} (pid ${pid})`).join(', ');
  return optional(
    'server',
    servers.length > 0,
    where || 'none is running: schedules and deliveries wait for coppice serve',
  );
}
