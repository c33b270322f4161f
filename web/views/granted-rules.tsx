import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { grantReach } from '../../src/render/grant-reach.ts';
import { spellHidden } from '../../src/render/hidden-characters.ts';
import { useApi, useSending } from '../data/api.ts';
import { Button } from '../parts/button.tsx';
import { Table } from '../parts/heads.tsx';
import { say } from '../parts/notice.tsx';
import type { PageContext } from '../parts/page.ts';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';

type Rules = DocumentOf<'coppice/rules/v1'>;

const REFRESH_MS = 3_000;

/** Rules that people granted in answer to approvals and that still hold, and taking them back. */
export function GrantedRules({ writes }: PageContext) {
  const { data, error, reload } = useApi<Rules>('/v1/rules', REFRESH_MS);
  const sending = useSending();
  const remove = async ({ id, rule }: Rules['rules'][number]) => {
    if ((await sending.send('DELETE', `/v1/rules/${id}`)) !== null)
      say(`Removed ${rule}: calls that only it allowed ask again`);
    reload();
  };
  return (
    <section aria-labelledby="rules">
      <p class="crumbs">
        <a href="/approvals">Approvals</a>
      </p>
      <h1 id="rules">Granted rules</h1>
      <Trouble error={error ?? sending.error} />
      {data === null || data.rules.length === 0 ? (
        <Nothing data={data} error={error} text="No rule that was granted holds.">
          <a href="/approvals">An answer to an approval grants one</a>
        </Nothing>
      ) : (
        <Table names={['Rule', 'For', 'Folder', 'Granted', ...(writes ? ['Actions'] : [])]}>
          {data.rules.map((one) => (
            <tr key={one.id} data-row tabIndex={-1}>
              <td>
                <code>{spellHidden(one.rule)}</code>
              </td>
              <td>
                {one.root_id === null ? (
                  grantReach(one.scope, one.agent_name, one.root_id)
                ) : (
                  <a href={`/trees/${one.root_id}`}>{grantReach(one.scope, one.agent_name, one.root_id)}</a>
                )}
              </td>
              <td class="dim">{one.folder}</td>
              <td>
                by {one.granted_by} <When at={one.granted_at} since />
              </td>
              {writes && (
                <td>
                  <Button does="Remove" disabled={sending.busy} onClick={() => void remove(one)} />
                </td>
              )}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
