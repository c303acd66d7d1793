import { type ResponseOf, tokenScopes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Bot, KeyRound, Pencil, Plus, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { readTokenDraft } from '../../forms/token-draft.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { DataTable } from '../../table/DataTable.tsx'
import { revokeAction } from '../account/revoke-token.ts'
import { useTokenColumns } from '../account/use-token-columns.tsx'

const ServiceAccountForm = lazyComponent(
  async () => (await import('../../forms/service-account.tsx')).ServiceAccountForm,
)
const TokenCreate = lazyComponent(async () => (await import('../../forms/token-create.tsx')).TokenCreate)

type Account = ResponseOf<'service-accounts.list'>[number]
type Layer = { kind: 'create' } | { kind: 'edit' | 'token'; account: Account } | null

/** Service accounts of the team, for pipelines and scripts. Only admins see them. */
export function ServiceAccounts({ team }: { team: { id: string; slug: string } }) {
  const { t } = useTranslation(['teams', 'common'])
  const denied = useDenied('service-accounts.create')
  const hidden = useDenied('service-accounts.list')
  const [layer, setLayer] = useState<Layer>(null)
  const close = () => setLayer(null)
  return (
    <Box
      title={t('accounts.title')}
      actions={
        <Button icon={Plus} disabledReason={denied} onClick={() => setLayer({ kind: 'create' })}>
          {t('accounts.add')}
        </Button>
      }
    >
      {hidden ? (
        <p className="px-3.5 py-3 text-ink-2">{t('accounts.denied')}</p>
      ) : (
        <Accounts teamSlug={team.slug} onLayer={setLayer} />
      )}
      {layer?.kind === 'create' && <ServiceAccountForm teamSlug={team.slug} onClose={close} />}
      {layer?.kind === 'edit' && <ServiceAccountForm teamSlug={team.slug} account={layer.account} onClose={close} />}
      {layer?.kind === 'token' && <AccountToken teamSlug={team.slug} account={layer.account} onClose={close} />}
    </Box>
  )
}

function Accounts({ teamSlug, onLayer }: { teamSlug: string; onLayer: (layer: Layer) => void }) {
  const { t } = useTranslation(['teams', 'common', 'tokens'])
  const query = useQuery(apiQuery('service-accounts.list', { params: { teamSlug } }))
  const stale = [queryKey('service-accounts.list')]
  const updateDenied = useDenied('service-accounts.update')
  const tokenDenied = useDenied('service-accounts.create-token')
  // After signing in again, the form opens with what was typed.
  useEffect(() => {
    const account = query.data?.find(({ id }) => readTokenDraft(id))
    if (account) onLayer({ kind: 'token', account })
  }, [query.data, onLayer])
  const remove = useCall('service-accounts.delete', { stale, done: t('accounts.deleted') })
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows rows={2} />}
      empty={<p className="px-3.5 py-3 text-ink-2">{t('accounts.empty')}</p>}
    >
      {(accounts) => (
        <ul className="divide-y divide-line">
          {accounts.map((account) => (
            <li key={account.id}>
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
                <Bot aria-hidden className="text-ink-2" />
                <span className="font-strong">{account.name}</span>
                <Pill>{t(`common:role.${account.role}`)}</Pill>
                {account.description && <span className="min-w-0 truncate text-ink-2">{account.description}</span>}
                <span className="text-small text-ink-2">
                  {t('accounts.by', { name: account.createdBy })} <RelativeTime at={account.createdAt} />
                </span>
                <span className="ml-auto flex items-center gap-2">
                  <Button
                    size="sm"
                    icon={KeyRound}
                    disabledReason={tokenDenied}
                    onClick={() => onLayer({ kind: 'token', account })}
                  >
                    {t('tokens:add')}
                  </Button>
                  <ActionMenu
                    size="sm"
                    label={t('accounts.actions', { name: account.name })}
                    actions={[
                      {
                        id: 'edit',
                        icon: Pencil,
                        label: t('common:edit'),
                        disabledReason: updateDenied,
                        run: () => onLayer({ kind: 'edit', account }),
                      },
                      {
                        id: 'delete',
                        icon: Trash2,
                        label: t('common:delete'),
                        danger: true,
                        disabledReason: remove.denied,
                        run: () => {
                          const question = {
                            title: t('accounts.deleteTitle', { name: account.name }),
                            text: t('accounts.deleteText', { count: account.tokens.length }),
                            action: t('common:delete'),
                            danger: true,
                          }
                          void remove.ask(question, { params: { teamSlug, serviceAccountId: account.id } })
                        },
                      },
                    ]}
                  />
                </span>
              </div>
              {account.tokens.length > 0 && <AccountTokens teamSlug={teamSlug} account={account} />}
            </li>
          ))}
        </ul>
      )}
    </QueryView>
  )
}

function AccountTokens({ teamSlug, account }: { teamSlug: string; account: Account }) {
  const { t } = useTranslation('tokens')
  const columns = useTokenColumns()
  const revoke = useCall('service-accounts.delete-token', {
    stale: [queryKey('service-accounts.list')],
    done: t('revoked'),
  })
  return (
    <div className="border-t border-line pl-6 max-md:pl-0">
      <DataTable
        flush
        label={t('of', { name: account.name })}
        rows={account.tokens}
        columns={columns}
        rowKey={(token) => token.id}
        actions={(token) => [
          revokeAction(token, revoke.denied, () =>
            revoke.mutate({ params: { teamSlug, serviceAccountId: account.id, tokenId: token.id } }),
          ),
        ]}
      />
    </div>
  )
}

function AccountToken({ teamSlug, account, onClose }: { teamSlug: string; account: Account; onClose: () => void }) {
  const { t } = useTranslation('tokens')
  const create = useCall('service-accounts.create-token', {
    stale: [queryKey('service-accounts.list')],
    toast: false,
  })
  const params = { teamSlug, serviceAccountId: account.id }
  return (
    <TokenCreate
      title={t('addTo', { name: account.name })}
      draftKey={account.id}
      description={t('addAccountText')}
      scopes={['deploy', ...tokenScopes.filter((scope) => scope !== 'deploy')]}
      creating={create}
      create={({ name, scope, expiry }) =>
        create.mutateAsync({ params, body: { name, scope, expirationInDays: expiry } })
      }
      onClose={onClose}
    />
  )
}
