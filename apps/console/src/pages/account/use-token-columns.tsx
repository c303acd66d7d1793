import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { RelativeTime, useNow } from '../../components/RelativeTime.tsx'
import { Pill } from '../../components/Tag.tsx'
import type { Column } from '../../table/columns.ts'

export type Token = ResponseOf<'tokens.list'>[number]

/** A user's tokens and those of a service account look alike. */
export function useTokenColumns(): Column<Token>[] {
  const { t } = useTranslation('tokens')
  return [
    {
      id: 'name',
      header: t('name'),
      narrow: 'title',
      sort: (token) => token.name,
      cell: (token) => <span className="font-strong">{token.name}</span>,
    },
    {
      id: 'scope',
      header: t('scope'),
      narrow: 'lead',
      sort: (token) => token.scope,
      cell: (token) => <Pill>{t(`scopes.${token.scope}`)}</Pill>,
    },
    {
      id: 'created',
      header: t('created'),
      narrow: 'none',
      sort: (token) => token.createdAt,
      cell: (token) => <RelativeTime at={token.createdAt} />,
    },
    {
      id: 'used',
      header: t('lastUsed'),
      narrow: 'none',
      sort: (token) => token.lastUsedAt,
      cell: (token) =>
        token.lastUsedAt ? <RelativeTime at={token.lastUsedAt} /> : <span className="text-ink-3">{t('unused')}</span>,
    },
    {
      id: 'expires',
      header: t('expires'),
      align: 'right',
      narrow: 'end',
      sort: (token) => token.expiresAt,
      cell: (token) => <Expiry at={token.expiresAt} />,
    },
  ]
}

export function Expiry({ at }: { at: string | null | undefined }) {
  const { t } = useTranslation('tokens')
  const now = useNow()
  if (!at) return <span className="text-ink-2">{t('never')}</span>
  const days = Math.ceil((Date.parse(at) - now) / 86_400_000)
  if (days <= 0) return <Pill tone="failed">{t('expired')}</Pill>
  return <span className="text-ink-2 tabular-nums">{t('inDays', { count: days })}</span>
}
