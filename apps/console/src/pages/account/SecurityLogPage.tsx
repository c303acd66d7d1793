import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import {
  Fingerprint,
  History,
  KeyRound,
  LifeBuoy,
  Lock,
  LogIn,
  type LucideIcon,
  Mail,
  ShieldCheck,
  ShieldOff,
  UserPlus,
} from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { type SecurityEvent, securityLogQuery } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { codeColumn, timeColumn } from '../../table/named-columns.tsx'
import { AccountHead } from './AccountHead.tsx'
import { deviceName } from './device.ts'
import { securityEventLabels } from './security-event-labels.ts'

type Page = { events: SecurityEvent[] | null }

/** The security log of the user's own account, newest first, in which users can find sign-ins that were not theirs. */
export function SecurityLogPage() {
  const { t } = useTranslation('account')
  const query = useInfiniteQuery(securityLogQuery())
  const columns = useColumns()
  return (
    <>
      <AccountHead title={t('tab.log')} />
      <QueryView<InfiniteData<Page>>
        query={query}
        skeleton={<SkeletonRows rows={8} />}
        isEmpty={({ pages }) => (pages[0]?.events ?? []).length === 0}
        empty={<Nothing kept={query.data?.pages[0]?.events !== null} />}
      >
        {({ pages }) => (
          <div className="grid gap-3.5">
            <p className="text-ink-2">
              {t('log.text')}{' '}
              <TextLink {...links.changePassword()} inline>
                {t('log.change')}
              </TextLink>{' '}
              {t('log.and')}{' '}
              <TextLink {...links.sessions()} inline>
                {t('log.end')}
              </TextLink>
              .
            </p>
            <DataTable
              label={t('tab.log')}
              rows={pages.flatMap(({ events }) => events ?? [])}
              columns={columns}
              rowKey={({ id }) => id}
              initialSort={null}
            />
            {query.isFetchNextPageError && <ErrorState error={query.error} retry={() => void query.fetchNextPage()} />}
            {query.hasNextPage && !query.isFetchNextPageError && (
              <Button
                className="justify-self-center"
                busy={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                {t('log.more')}
              </Button>
            )}
          </div>
        )}
      </QueryView>
    </>
  )
}

function Nothing({ kept }: { kept: boolean }) {
  const { t } = useTranslation('account')
  return (
    <EmptyState
      icon={History}
      title={t(kept ? 'log.empty' : 'log.none')}
      text={t(kept ? 'log.emptyText' : 'log.noneText')}
    />
  )
}

const icons: Record<string, LucideIcon> = {
  'signed-up': UserPlus,
  'signed-in': LogIn,
  confirmed: Fingerprint,
  recovered: LifeBuoy,
  'password-changed': Lock,
  'address-changed': Mail,
  'factor-added': ShieldCheck,
  'factor-removed': ShieldOff,
  'token-created': KeyRound,
  'token-revoked': KeyRound,
  'tokens-revoked': KeyRound,
}

function useColumns(): Column<SecurityEvent>[] {
  const { t } = useTranslation('account')
  return [
    {
      id: 'what',
      header: t('log.what'),
      narrow: 'title',
      grow: true,
      cell: (entry) => {
        const Icon = icons[entry.event] ?? History
        return (
          <span className="inline-flex max-w-full items-center gap-2">
            <Icon aria-hidden className="shrink-0 text-ink-3" />
            <span
              className="truncate font-strong max-md:whitespace-normal max-md:wrap-anywhere"
              title={securityEventLabels(entry)}
            >
              {securityEventLabels(entry)}
            </span>
          </span>
        )
      },
    },
    {
      id: 'device',
      header: t('log.device'),
      narrow: 'detail',
      cell: ({ user_agent }) => <span title={user_agent}>{deviceName(user_agent)}</span>,
    },
    codeColumn('address', t('log.address'), (entry) => entry.ip_address),
    timeColumn('when', t('log.when'), (entry) => entry.created_at),
  ]
}
