import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import type { ClientEvent } from '../../serve/client/client-events.ts';
import type { ClientOptions } from '../../serve/client/client-request.ts';
import { sameLedgerFlags } from '../../settings/suggested-command.ts';
import { withServer } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { type Followed, type FollowOptions, followRun } from './follow-run.ts';
import { noticeOf, type ShownEvent } from './progress.ts';

/** Maximum duration of a request: proxies cut off longer ones. */
const WAIT_S = 50;
/** Tries of a request, enough to wait about three minutes for a server that restarts. */
const TRIES = 40;

/** Follows a tree that a server leads, which `begin` starts or resumes there. The tree goes on when this process stops. */
export function followAtServer(
  context: Context,
  server: ClientOptions,
  begin: (client: CoppiceClient) => Promise<string>,
  {
    failure,
    ...options
  }: FollowOptions & {
    readonly failure?: (client: CoppiceClient, root_id: string) => Promise<string | null>;
  },
): Promise<number> {
  return withServer(context, server, async (eager) => {
    const { openClient } = await import('../../serve/client/client.ts');
    const client = openClient({ ...server, tries: TRIES });
    const ended = new AbortController();
    const run: Followed = {
      begin: async (see) => {
        const root_id = await begin(eager);
        const first = Promise.withResolvers<void>();
        const follow = async (): Promise<void> => {
          for await (const event of client.events({ tree: root_id, signal: ended.signal })) {
            first.resolve();
            if (event.type !== 'resync') see(shownEvent(event), event);
            else
              for (const agent of (await client.tree(root_id)).agents)
                see({ agent }, { type: 'agent', agent });
          }
        };
        follow().catch(first.reject);
        await first.promise;
        return client.tree(root_id);
      },
      settled: (root_id, until) => settled(client, root_id, until, ended.signal),
      next: (root_id) =>
        `the server continues it; see: coppice logs -f ${root_id.slice(0, 8)}${sameLedgerFlags(context)}`,
      ...(failure === undefined ? {} : { failure: (root_id) => failure(client, root_id) }),
      close: async () => ended.abort(),
    };
    return followRun(context, run, options);
  });
}

function shownEvent({ agent, mail, message }: ClientEvent): ShownEvent {
  const notice = message?.kind === 'event' ? noticeOf(message.content) : undefined;
  return { agent, mail, notice };
}

async function settled(
  client: CoppiceClient,
  root_id: string,
  until: 'tree' | 'root',
  signal: AbortSignal,
): Promise<readonly AgentDocument[]> {
  const whom = until === 'root' ? { agents: [root_id] } : { tree: root_id };
  const rests = async () =>
    (await client.wait({ ...whom, timeout_seconds: WAIT_S }, { signal })).timed_out === undefined;
  while (!(await rests()));
  return (await client.tree(root_id)).agents;
}
