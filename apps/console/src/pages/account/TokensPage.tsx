import { tokenScopes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { useAnchor } from '../../routing/use-anchor.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { AccountHead } from './AccountHead.tsx'
import { revokeAction } from './revoke-token.ts'
import { useTokenColumns } from './use-token-columns.tsx'

const TokenCreate = lazyComponent(async () => (await import('../../forms/token-create.tsx')).TokenCreate)

/** API tokens of the signed-in user; they have the user's rights, limited to their scope. */
export function TokensPage() {
  const { t } = useTranslation(['tokens', 'common'])
  const query = useQuery(apiQuery('tokens.list'))
  const columns = useTokenColumns()
  const anchor = useAnchor('new')
  const stale = [queryKey('tokens.list')]
  const create = useCall('tokens.create', { stale, toast: false })
  const remove = useCall('tokens.delete', { stale, done: t('revoked') })
  const add = (
    <Button variant="main" icon={Plus} onClick={anchor.show}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <AccountHead title={t('title')} actions={query.data?.length ? add : undefined} />
      <p className="mb-4 text-ink-2">{t('sub')}</p>
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={4} filters />}
        empty={<EmptyState icon={KeyRound} title={t('empty.title')} text={t('empty.text')} action={add} />}
      >
        {(tokens) => (
          <FilteredList rows={tokens} search={t('filter')} searchText={(token) => [token.name, token.scope]}>
            {(rows) => (
              <DataTable
                label={t('title')}
                rows={rows}
                columns={columns}
                rowKey={(token) => token.id}
                actions={(token) => [
                  revokeAction(token, remove.denied, () => remove.mutate({ params: { tokenId: token.id } })),
                ]}
              />
            )}
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && (
        <TokenCreate
          title={t('add')}
          draftKey="me"
          description={t('addText')}
          scopes={tokenScopes}
          creating={create}
          create={({ name, scope, expiry }) => create.mutateAsync({ body: { name, scope, expirationInDays: expiry } })}
          onClose={anchor.close}
        />
      )}
    </>
  )
}
